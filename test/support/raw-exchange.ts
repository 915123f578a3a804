/** One request whose response may be none that /openapi.json describes, or none at all. */
import http from 'node:http'
import type { Body } from './client.ts'

export type Got = { status: number; headers: http.IncomingHttpHeaders; body: Body; text: string }

/** One request on a connection of its own. Rejects with ECONNRESET when the connection is reset. */
export function exchange(
  url: string,
  { key, method = 'GET', json, body, headers = {} }: RequestOf = {},
): Promise<Got> {
  const text = json === undefined ? body : JSON.stringify(json)
  return new Promise((resolve, reject) => {
    const request = http.request(
      url,
      {
        method,
        agent: false,
        headers: {
          ...(key && { Authorization: `Bearer ${key}` }),
          ...(json !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
      },
      async response => {
        try {
          const chunks = await response.toArray()
          const got = Buffer.concat(chunks).toString()
          const isJson = response.headers['content-type'] === 'application/json'
          const body = isJson ? JSON.parse(got) : undefined
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body, text: got })
        } catch (error) {
          reject(error)
        }
      },
    )
    request.on('error', reject)
    request.end(text)
  })
}

export type RequestOf = {
  key?: string | undefined
  method?: string
  json?: unknown
  body?: string
  headers?: Record<string, string>
}
