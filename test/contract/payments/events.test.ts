import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body, Client } from '../../support/client.ts'
import { authorise, choose, newPayment, payOnPages } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'

const SECOND = 1000

type Walk = (api: Client, payment: Body, wait: () => Promise<number>) => Promise<unknown>
type Journey = { fields?: Record<string, unknown>; walk?: Walk; events: string[] }

const open: Walk = (api, payment) => api.get(payment._links.next_url.href)
const picks =
  (scenario: string): Walk =>
  (api, payment) =>
    choose(api, payment, scenario)

/** The steps after creation, and the expected events, each with the second in which it happened. */
const journeys: Record<string, Journey> = {
  'was created': { events: ['0 created'] },
  'was opened twice': {
    walk: async (api, payment, wait) => {
      await open(api, payment, wait)
      await wait()
      await open(api, payment, wait)
    },
    events: ['0 created', '1 started'],
  },
  'was paid on the pages': {
    walk: async (api, payment, wait) => {
      await open(api, payment, wait)
      await wait()
      await picks('success')(api, payment, wait)
      await wait()
      await payOnPages(api, payment)
    },
    events: ['0 created', '1 started', '3 submitted', '3 success'],
  },
  'was paid with delayed capture and then captured': {
    fields: { delayed_capture: true },
    walk: async (api, payment, wait) => {
      const waiting = await payOnPages(api, payment)
      await wait()
      await api.post(waiting._links.capture.href)
    },
    events: ['0 created', '1 started', '1 submitted', '1 capturable', '2 success'],
  },
  'was declined on the pages': {
    walk: picks('declined'),
    events: ['0 created', '1 started', '1 failed P0010'],
  },
  'met an error of the payment provider': {
    walk: picks('error'),
    events: ['0 created', '1 started', '1 error P0050'],
  },
  'was cancelled by the user at once': {
    walk: picks('cancel'),
    events: ['0 created', '1 failed P0030'],
  },
  'was cancelled through the API after the user opened the first page': {
    walk: async (api, payment, wait) => {
      await open(api, payment, wait)
      await wait()
      await api.post(payment._links.cancel.href)
    },
    events: ['0 created', '1 started', '2 cancelled P0040'],
  },
  'was paid by a posted card': {
    fields: { authorisation_mode: 'moto_api' },
    walk: (api, payment) => authorise(api, payment),
    events: ['0 created', '1 started', '1 submitted', '1 success'],
  },
}

const messages: Record<string, string> = {
  P0010: 'Payment method rejected',
  P0030: 'Payment was cancelled by the user',
  P0040: 'Payment was cancelled by the service',
  P0050: 'Payment provider returned an error',
}
const finished = ['success', 'failed', 'error', 'cancelled']

onSharedDatabases('Payments: events', { control: true }, service => {
  /** Compares the whole body with one line for each event: second, status, code. */
  async function assertEvents(api: Client, payment: Body, events: string[]): Promise<void> {
    const { payment_id, created_date, _links } = payment
    const answer = await api.get(_links.events.href)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.body, {
      payment_id,
      events: events.map(line => {
        const [second, status = '', code] = line.split(' ')
        return {
          payment_id,
          state: {
            status,
            finished: finished.includes(status),
            ...(code && { code, message: messages[code] }),
          },
          updated: new Date(Date.parse(created_date) + Number(second) * SECOND).toISOString(),
          _links: { payment_url: { href: _links.self.href, method: 'GET' } },
        }
      }),
      _links: { self: { href: `${_links.self.href}/events`, method: 'GET' } },
    })
  }

  for (const [sentence, { fields = {}, walk, events }] of Object.entries(journeys))
    test(`GET events of a payment that ${sentence} lists ${events.join(', ')}`, async () => {
      const { api, payment } = await newPayment(service(), fields)
      const wait = () => api.advance(SECOND)
      await wait()
      await walk?.(api, payment, wait)
      await assertEvents(api, payment, events)
    })

  test('GET events of a payment in agreement mode lists all steps at the moment of its creation', async () => {
    const api = await service().newAccount()
    const agreement = {
      authorisation_mode: 'agreement',
      agreement_id: await activeAgreement(api),
    }
    const steps = ['0 created', '0 started', '0 submitted']
    await assertEvents(api, await api.createPayment(agreement), [...steps, '0 success'])
    const waiting = await api.createPayment({ ...agreement, delayed_capture: true })
    await assertEvents(api, waiting, [...steps, '0 capturable'])
  })
})
