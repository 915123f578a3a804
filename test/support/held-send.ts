/** A Send whose calls stay pending until the test ends them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AttemptResult, Send } from '../../src/core/ports.ts'
import { createDeliveries, type Deliveries } from '../../src/pay/webhooks/deliver.ts'
import type { Message } from '../../src/pay/webhooks/webhook.ts'

export type Call = {
  url: string
  body: string
  /** Resolves the call with this status. Only the first call has an effect. */
  end(status: number): void
}

export type HeldSend = ReturnType<typeof holdSends>

export function holdSends() {
  const calls: Call[] = []
  const arrivals = new EventTarget()
  let handedOut = 0
  return {
    calls,
    send: (({ url, body }) =>
      new Promise(resolve => {
        calls.push({ url, body, end: status => resolve(resultOf(status)) })
        arrivals.dispatchEvent(new Event('call'))
      })) satisfies Send,
    /** Resolves with the next `count` calls that no earlier `next` returned. */
    async next(count = 1) {
      const from = handedOut
      handedOut += count
      while (calls.length < from + count) await once(arrivals, 'call')
      return calls.slice(from, from + count)
    },
    endAll(status: number) {
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

type Parts = Parameters<typeof createDeliveries>[0]

const onFault = (error: unknown) => assert.fail(String(error))

/** Another instance on the database of a service, or the same one after its next start. */
export const instanceOn = (
  { database, time }: Pick<Parts, 'database' | 'time'>,
  send: Send,
  different: Partial<Parts> = {},
): Deliveries => createDeliveries({ database, time, send, onFault, ...different })

/** The row of this message in the database of an instance that has not sent it. */
export function unsentMessage(body: string, webhook_id: string, created: number): Message {
  const { webhook_message_id: message_id, resource_id, event_type } = JSON.parse(body)
  const sent_as = 'specification'
  return { message_id, webhook_id, payment_id: resource_id, event_type, created, body, sent_as }
}
