/** A Send whose calls wait until the test says how they ended, so that a test can stop time there. */
import { once } from 'node:events'
import type { AttemptResult, Send } from '../../src/ports.ts'

export type Call = {
  url: string
  body: string
  /** Ends it with this status; later calls of it change nothing. */
  end(status: number): void
}

export type HeldSend = {
  send: Send
  /** All so far. */
  calls: Call[]
  /** The next `count` calls that no earlier `next` was given, as soon as they are there. */
  next(count?: number): Promise<Call[]>
  /** Ends all so far. */
  endAll(status: number): void
}

export function holdSends(): HeldSend {
  const calls: Call[] = []
  const arrivals = new EventTarget()
  let handedOut = 0
  return {
    calls,
    send: ({ url, body }) =>
      new Promise(resolve => {
        calls.push({ url, body, end: status => resolve(resultOf(status)) })
        arrivals.dispatchEvent(new Event('call'))
      }),
    async next(count = 1) {
      const from = handedOut
      handedOut += count
      while (calls.length < from + count) await once(arrivals, 'call')
      return calls.slice(from, from + count)
    },
    endAll(status) {
      for (const { end } of calls) end(status)
    },
  }
}

export const resultOf = (status: number): AttemptResult => ({
  status: status >= 200 && status <= 299 ? 'SUCCESSFUL' : 'FAILED',
  status_code: status,
  response_time: 1,
  result: String(status),
})
