import type { IncomingMessage } from 'node:http'
import { ControlError } from './errors.ts'
import { HostPromise } from './guest.ts'
import type { Answer } from './public.d.ts'

/** One service, with the connections to it that are kept. */
export type Connection = {
  url: string
  /** Sends a request. `path` begins with a slash, or is a whole address. Rejects only if there is no response. */
  send(key: string, request: Outgoing): Promise<Answer>
  /** Sends a request and returns the body of the response. Rejects with a ControlError for any status but 2xx. */
  // biome-ignore lint/suspicious/noExplicitAny: the callers name the shape.
  call(key: string, request: Outgoing): Promise<any>
  close(): void
}

type Outgoing = {
  method: string
  path: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

export function connect(url: string): Connection {
  // Loaded here, so that importing the library costs little. `import()` does not work in Jest.
  const { request, Agent } = process.getBuiltinModule(
    url.startsWith('https:') ? 'node:https' : 'node:http',
  )
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })

  const send = (key: string, { method, path, body, headers, signal }: Outgoing): Promise<Answer> =>
    new HostPromise((resolve, reject) => {
      const text =
        body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
      const sending = request(
        new URL(path, `${url}/`),
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
          ...(signal && { signal }),
        },
        response => {
          const chunks: Buffer[] = []
          response.on('data', chunk => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => resolve(answerOf(response, Buffer.concat(chunks).toString())))
        },
      )
      sending.on('error', reject)
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
    close: () => agent.destroy(),
  }
}

function answerOf({ statusCode = 0, headers: given }: IncomingMessage, text: string): Answer {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  const isJson = /^application\/json/.test(headers['content-type'] ?? '')
  return { status: statusCode, headers, text, body: isJson && text ? JSON.parse(text) : undefined }
}
