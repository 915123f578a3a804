import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Send } from '../../../src/core/ports.ts'
import type { Answer, Body, Client } from '../../support/client.ts'
import { met } from '../../support/hosted-page.ts'
import { choose, read, statusesOf } from '../../support/journeys.ts'
import { onEveryDatabase } from '../../support/service.ts'

const HOOKS = 'https://hooks.example.org/'

/** The event types sent to each callback address. */
const sent = new Map<string, string[]>()
/** A delivery to a callback address waits for the promise held here. */
const held = new Map<string, Promise<void>>()
const send: Send = async ({ url, body }) => {
  const { event_type } = JSON.parse(body)
  sent.set(url, [...(sent.get(url) ?? []), event_type])
  await held.get(url)
  return { status: 'SUCCESSFUL', status_code: 200, response_time: 1, result: '200 OK' }
}

/** A payment, and a webhook of its account that receives every event type. */
async function watchedPayment(api: Client, fields: Record<string, unknown> = {}) {
  const payment = await api.createPayment(fields)
  const callback_url = HOOKS + payment.payment_id
  assert.equal((await api.post('/v1/webhooks', { callback_url })).status, 201)
  return { payment, callback_url, messages: () => sent.get(callback_url) ?? [] }
}

const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make))

const confirm = (api: Client, payment: Body): Promise<Answer> =>
  api.postForm(`${payment._links.next_url.href}/confirm`, {})

onEveryDatabase(
  'Hosted pages: races',
  service => {
    test('20 first visits at once record started once', async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment()
      const answers = await times(20, () => api.get(payment._links.next_url.href))
      for (const { status } of answers) assert.equal(status, 200)
      assert.deepEqual(await statusesOf(api, payment), ['created', 'started'])
    })

    for (const delayed_capture of [false, true])
      test(`20 confirms at once complete a payment once and all redirect to return_url, delayed_capture ${delayed_capture}`, async () => {
        const api = await service().newAccount()
        const { payment, messages } = await watchedPayment(api, { delayed_capture })
        await choose(api, payment, 'success')
        const answers = await times(20, () => confirm(api, payment))
        for (const answer of answers) assert.deepEqual(met(answer), [303, payment.return_url])
        const last = delayed_capture ? 'capturable' : 'success'
        assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'submitted', last])
        const types = ['card_payment_succeeded', 'card_payment_captured']
        assert.deepEqual(messages(), delayed_capture ? types.slice(0, 1) : types)
      })

    test('a confirmed payment is stored before its webhooks receive it, so a second confirm need not wait', async () => {
      const api = await service().newAccount()
      const { payment, callback_url, messages } = await watchedPayment(api)
      await choose(api, payment, 'success')
      const { promise, resolve: release } = Promise.withResolvers<void>()
      held.set(callback_url, promise)
      let answered = false
      const first = confirm(api, payment).finally(() => {
        answered = true
      })
      while (messages().length === 0) await nextTurn()
      assert.equal((await read(api, payment)).state.status, 'success')
      assert.deepEqual(met(await confirm(api, payment)), [303, payment.return_url])
      assert.equal(answered, false)
      release()
      assert.deepEqual(met(await first), [303, payment.return_url])
      assert.equal(messages().length, 2)
    })

    test('of the scenarios declined, error and cancel at once one wins and the others redirect to return_url', async () => {
      const api = await service().newAccount()
      const { payment, messages } = await watchedPayment(api)
      const scenarios = ['declined', 'error', 'cancel', 'declined', 'error', 'cancel']
      const answers = await Promise.all(scenarios.map(one => choose(api, payment, one)))
      const losers = answers.filter(({ status }) => status === 303)
      assert.equal(losers.length, scenarios.length - 1)
      for (const answer of losers) assert.deepEqual(met(answer), [303, payment.return_url])
      const winner = scenarios[answers.findIndex(({ status }) => status === 200)] ?? ''
      const codes: Record<string, string> = { declined: 'P0010', error: 'P0050', cancel: 'P0030' }
      assert.equal((await read(api, payment)).state.code, codes[winner])
      assert.deepEqual(messages(), ['card_payment_failed'])
    })

    test('of a confirm and a cancel through the API at once one wins, and the page redirects to return_url', async () => {
      const api = await service().newAccount()
      for (let round = 0; round < 5; round++) {
        const { payment, messages } = await watchedPayment(api)
        await choose(api, payment, 'success')
        const [page, cancel] = await Promise.all([
          confirm(api, payment),
          api.post(payment._links.cancel.href),
        ])
        assert.deepEqual(met(page), [303, payment.return_url])
        const { status } = (await read(api, payment)).state
        const cancelled = status === 'cancelled'
        assert.equal(cancel.status, cancelled ? 204 : 400)
        assert.deepEqual(
          await statusesOf(api, payment),
          cancelled
            ? ['created', 'started', 'cancelled']
            : ['created', 'started', 'submitted', 'success'],
        )
        assert.deepEqual(
          messages(),
          cancelled
            ? ['card_payment_cancelled']
            : ['card_payment_succeeded', 'card_payment_captured'],
        )
      }
    })
  },
  { send },
)
