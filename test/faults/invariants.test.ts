/** Tests the checks themselves: they accept a sound database and detect each kind of damage. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { RETENTION_MS } from '../../src/pay/retention.ts'
import { createAgreement, setUpPayment } from '../support/agreements.ts'
import { payOnPages } from '../support/journeys.ts'
import { flush } from '../support/record.ts'
import { onEveryDatabase } from '../support/service.ts'
import { sendNowhere } from './hostile.ts'
import { checkInvariants, problemsOf, readRows } from './invariants.ts'
import type { Rows } from './rows.ts'

/** What must be said, and what is done to the rows for it. */
const damage: Record<string, [seen: RegExp, act: (of: ReturnType<typeof partsOf>) => void]> = {
  'a column that differs from the body': [
    /I5 \S+ is failed, not success/,
    ({ payment }) => Object.assign(payment, { status: 'failed' }),
  ],
  'refunds that do not add up': [
    /I2 \S+ refunds of 30, the row says 31/,
    ({ payment }) => Object.assign(payment, { refunded_amount: 31 }),
  ],
  'an impossible history': [
    /I3, I4 \S+ created,started,lost,success/,
    ({ payment }) => Object.assign(payment.body.events[2] ?? {}, { status: 'lost' }),
  ],
  'a code on a status that has none': [
    /I5 \S+ success with code P0010/,
    ({ payment }) => Object.assign(payment.body.events[3] ?? {}, { code: 'P0010' }),
  ],
  'an idempotency key without its payment': [
    /I8 key key-1 is of no payment/,
    ({ keys: [key] }) => Object.assign(key ?? {}, { account: 'other' }),
  ],
  'an agreement that did not become active': [
    /I9 \S+ created/,
    ({ agreements: [agreement] }) => Object.assign(agreement ?? {}, { status: 'created' }),
  ],
  'a message that was never delivered': [
    /I11 \S+ still PENDING/,
    ({ message }) => Object.assign(message, { status: 'PENDING', attempts: [] }),
  ],
  'a message about another state': [
    /I13/,
    ({ message }) => Object.assign(message.body?.resource.state ?? {}, { status: 'failed' }),
  ],
  'a lost message, and one of a type that nobody subscribed to': [
    /I14 \S+ not subscribed to[\s\S]*I11 \S+ card_payment_refunded to \S+ 0 messages/,
    ({ message }) => Object.assign(message, { event_type: 'other' }),
  ],
  'a request that caused an event which is not there': [
    /I22 \S+: \S+ has no event 90/,
    ({ exchange }) => Object.assign(exchange.body.caused ?? {}, { events: [90] }),
  ],
}

/** Rows, and those of the payment that was made with a key. */
function partsOf(rows: Rows) {
  const payment_id = rows.keys[0]?.payment_id
  const find = <Row extends { payment_id: string | null }>(
    all: Row[],
    test: (row: Row) => boolean,
  ) => all.find(row => row.payment_id === payment_id && test(row)) ?? assert.fail('it is not there')
  return {
    ...rows,
    payment: find(rows.payments, () => true),
    message: find(rows.messages, ({ event_type }) => event_type === 'card_payment_refunded'),
    exchange: find(rows.exchanges, ({ body }) => body.caused?.events?.[0] === 0),
  }
}

onEveryDatabase('The invariants', { send: sendNowhere }, service => {
  before(async () => {
    const api = await service().newAccount()
    await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/all' })
    const agreement = await api.post('/v1/agreements', { reference: 'PLAN-1', description: 'x' })
    service().clock.advance(1)
    const payment = await api.createPayment(
      { set_up_agreement: agreement.body.agreement_id },
      { 'Idempotency-Key': 'key-1' },
    )
    const page = payment._links.next_url.href
    await api.postForm(page, { scenario: 'success' })
    await api.postForm(`${page}/confirm`, {})
    await api.post(`/v1/payments/${payment.payment_id}/refunds`, { amount: 30 })
    await api.createPayment({
      authorisation_mode: 'agreement',
      agreement_id: agreement.body.agreement_id,
    })
    const declined = await api.createPayment()
    await api.postForm(declined._links.next_url.href, { scenario: 'declined' })
    await flush(service())
  })

  const quiet = () => ({ now: service().clock.now(), settled: true })
  const check = () => checkInvariants(service().database, quiet())

  test('hold after requests of every kind', check)

  for (const [what, [seen, act]] of Object.entries(damage))
    test(`detect ${what}`, async () => {
      const rows = await readRows(service().database, quiet())
      act(partsOf(rows))
      assert.match(problemsOf(rows, quiet()).join('\n'), seen)
    })

  test('hold for an agreement whose card came from a payment that is gone', async () => {
    const { clock, newAccount } = service()
    const api = await newAccount()
    const agreement = await createAgreement(api)
    const first = await setUpPayment(api, agreement, {
      prefilled_cardholder_details: { cardholder_name: 'Gwen Hughes' },
    })
    clock.advance(RETENTION_MS - 60_000)
    await payOnPages(api, await setUpPayment(api, agreement))
    await payOnPages(api, first)
    clock.advance(60_000)
    await check()
  })
})
