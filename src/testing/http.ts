import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { parsedJson } from '../core/values.ts'
import { ControlError } from './errors.ts'
import type { Answer, Signal } from './public.d.ts'

/** Sends a request and returns the body of the response. Rejects with a ControlError for any status but 2xx. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  signal?: Signal,
  // biome-ignore lint/suspicious/noExplicitAny: the callers name the shape.
) => Promise<any>

export type Connection = ReturnType<typeof connect>

type Outgoing = {
  method: string
  path: string
  body?: unknown
  headers?: Record<string, string> | undefined
  signal?: Signal | undefined
}

/** One service, with the open connections to it. */
export function connect(address: string) {
  const url = new URL(address).href.replace(/(?<!\/)\/+$/, '')
  // Loaded here, so that importing the library costs little. `import()` does not work in Jest.
  const { request, Agent } = process.getBuiltinModule(
    url.startsWith('https:') ? 'node:https' : 'node:http',
  )
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  let hasEnded = false

  /** `path` begins with a slash, or is a whole address of the service. Rejects only if there is no response. */
  async function send(key: string, { method, path, body, headers, signal }: Outgoing) {
    const ended = () => new Error(`${method} ${path} has no response: stop() was called`)
    if (hasEnded) throw ended()
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const sending = request(addressIn(url, path), {
      method,
      agent,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(text !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(text),
        }),
        ...headers,
      },
      ...(signal && { signal: signal as AbortSignal }), // any platform's
    })
    let failure: unknown
    // `once` listens for errors only until the response begins.
    sending.on('error', error => {
      failure ??= error
    })
    try {
      const [response] = (await once(sending.end(text), 'response')) as [IncomingMessage]
      return answerOf(response, await readText(response))
    } catch (error) {
      throw hasEnded ? ended() : (failure ?? error)
    }
  }

  return {
    url,
    send,
    callWith:
      (key: string): Call =>
      async (method, path, body, signal) => {
        const answer = await send(key, { method, path, body, signal })
        if (answer.status < 300) return answer.body
        const { description, code, field } = answer.body ?? {}
        const said = [answer.status, code, description].filter(Boolean).join(' ')
        throw new ControlError(`${method} ${path}: ${said}`, answer.status, code, field)
      },
    /** Ends the service with `stop`, which lets it respond to requests under way. No later request is sent. */
    async end(stop: () => Promise<void>) {
      hasEnded = true
      await stop()
      agent.destroy()
    },
  }
}

function addressIn(url: string, path: string): URL {
  const whole = String(path).startsWith('/') ? url + path : String(path)
  const address = URL.canParse(whole) ? new URL(whole) : undefined
  if (address && `${address.href}/`.startsWith(`${url}/`)) return address
  throw new TypeError(
    `send: ${path} is not an address of ${url}: give a path such as /v1/payments. The key goes nowhere else`,
  )
}

export async function readText(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** One text for each name. Several values, such as cookies, have commas between them. */
export const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  )

function answerOf(response: IncomingMessage, text: string): Answer {
  const headers = headersOf(response)
  const isJson = /^application\/json/.test(headers['content-type'] ?? '')
  // The body may still not be JSON: another server sent it, or it is empty.
  const body = isJson ? parsedJson(text) : undefined
  return { status: response.statusCode ?? 0, headers, text, body }
}
