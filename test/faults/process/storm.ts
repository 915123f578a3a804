/** Many requests at once, whose clients may leave. */
import assert from 'node:assert/strict'
import http from 'node:http'
import type { Client } from '../../support/client.ts'

export type Storm = {
  count: number
  /** A path such as `/v1/payments`, or the path of the nth request. */
  path: string | ((nth: number) => string)
  method?: string
  headers?: Record<string, string>
  body?: string
  /** Milliseconds after which a client closes its connection. */
  leaveAfter?: number
  /** The number of connections, which are kept. Without it each request has its own connection. */
  connections?: number
}

/** The number of responses by status, or of requests by code of an error, `left`, or `cut` for an incomplete body. */
export type Outcomes = Record<string, number>

/** `longest` is in milliseconds, `largest` in bytes. */
export type Stormed = { outcomes: Outcomes; longest: number; largest: number; said: string }

/** Sends the requests with the key of the client, and reads each response to its end. */
export async function storm(service: { baseUrl: string }, { key }: Client, load: Storm) {
  const { connections = Infinity, method = 'GET', path, leaveAfter, body } = load
  const agent = new http.Agent({ keepAlive: 'connections' in load, maxSockets: connections })
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const seen: Stormed = { outcomes: {}, longest: 0, largest: 0, said: '' }
  const one = (nth: number) =>
    new Promise<string>(resolve => {
      const url = service.baseUrl + (typeof path === 'string' ? path : path(nth))
      const all = { ...headers, ...load.headers }
      const request = http.request(url, { method, agent, headers: all }, response => {
        let length = 0
        response.on('data', chunk => {
          length += chunk.length
        })
        response.on('error', () => {})
        response.on('close', () => {
          clearTimeout(timer)
          seen.largest = Math.max(seen.largest, length)
          resolve(response.complete ? String(response.statusCode) : 'cut')
        })
      })
      const leave = () => {
        resolve('left')
        request.destroy()
      }
      const timer = leaveAfter === undefined ? undefined : setTimeout(leave, leaveAfter)
      request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      request.end(body)
    })
  const send = async (_: unknown, nth: number) => {
    const begun = performance.now()
    const outcome = await one(nth)
    seen.outcomes[outcome] = (seen.outcomes[outcome] ?? 0) + 1
    seen.longest = Math.max(seen.longest, Math.round(performance.now() - begun))
  }
  await Promise.all(Array.from({ length: load.count }, send))
  agent.destroy()
  return { ...seen, said: `${spoken(seen.outcomes)} in at most ${seen.longest} ms` }
}

export const spoken = (outcomes: Outcomes): string =>
  Object.entries(outcomes)
    .map(([outcome, count]) => `${count} times ${outcome}`)
    .join(', ')

/** Fails unless there are 200s and, of the other statuses, at most these. */
export function assertOnly(outcomes: Outcomes, ...others: number[]): void {
  const allowed = new Set(['200', ...others.map(String)])
  const wrong = Object.keys(outcomes).filter(outcome => !allowed.has(outcome))
  assert.ok(wrong.length === 0 && outcomes[200], spoken(outcomes))
}
