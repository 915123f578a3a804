import type { IncomingMessage } from 'node:http'
import { ControlError } from './errors.ts'
import { HostPromise } from './host-globals.ts'
import type { Answer, Signal } from './public.d.ts'

/** One service, with the connections to it that are kept. */
export type Connection = {
  url: string
  /** `path` begins with a slash, or is a whole address of the service. Rejects only if there is no response. */
  send(key: string, request: Outgoing): Promise<Answer>
  /** Sends a request and returns the body of the response. Rejects with a ControlError for any status but 2xx. */
  // biome-ignore lint/suspicious/noExplicitAny: the callers name the shape.
  call(key: string, request: Outgoing): Promise<any>
  /** Ends the service with `stop`, which lets it respond to what is under way. No later request is sent. */
  end(stop: () => Promise<void>): Promise<void>
}

type Outgoing = {
  method: string
  path: string
  body?: unknown
  headers?: Record<string, string>
  signal?: Signal | undefined
}

export function connect(address: string): Connection {
  const url = new URL(address).href.replace(/\/+$/, '')
  // Loaded here, so that importing the library costs little. `import()` does not work in Jest.
  const { request, Agent } = process.getBuiltinModule(
    url.startsWith('https:') ? 'node:https' : 'node:http',
  )
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  let hasEnded = false

  const send = (key: string, { method, path, body, headers, signal }: Outgoing): Promise<Answer> =>
    new HostPromise((resolve, reject) => {
      const ended = () => new Error(`${method} ${path} has no response: stop() was called`)
      if (hasEnded) throw ended()
      const text =
        body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
      const sending = request(
        addressIn(url, path),
        {
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
          ...(signal && { signal: signal as AbortSignal }), // one of any platform
        },
        response => {
          const chunks: Buffer[] = []
          response.on('data', chunk => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => resolve(answerOf(response, Buffer.concat(chunks).toString())))
        },
      )
      sending.on('error', error => reject(hasEnded ? ended() : error))
      sending.end(text)
    })

  return {
    url,
    send,
    async call(key, outgoing) {
      const answer = await send(key, outgoing)
      if (answer.status < 300) return answer.body
      const { description, code, field } = answer.body ?? {}
      const what = `${outgoing.method} ${outgoing.path}`
      throw new ControlError(
        `${what}: ${answer.status} ${[code, description].filter(Boolean).join(' ')}`,
        ...([answer.status, code, field] as const),
      )
    },
    async end(stop) {
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

function answerOf({ statusCode = 0, headers: given }: IncomingMessage, text: string): Answer {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  const isJson = /^application\/json/.test(headers['content-type'] ?? '')
  return { status: statusCode, headers, text, body: isJson ? parse(text) : undefined }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // another server, or an empty body
  }
}
