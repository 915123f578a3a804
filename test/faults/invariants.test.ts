/** Tests the checks themselves: they accept a sound database and detect each kind of damage. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { RETENTION_MS } from '../../src/pay/retention.ts'
import { createAgreement, setUpPayment } from '../support/agreements.ts'
import { payOnPages } from '../support/journeys.ts'
import { flush } from '../support/record.ts'
import { onEveryDatabase } from '../support/service.ts'
import { sendNowhere } from './hostile.ts'
import { checkInvariants } from './invariants.ts'

type Damage = [
  what: string,
  seen: RegExp,
  table: string,
  set: [there: string, back: string],
  where?: string,
]

const AGREEMENT = 'agreement_id in (select agreement_id from payments where payment_id = $1)'
const replaced = (from: string, to: string): [string, string] => [
  `body = replace(body, '${from}', '${to}')`,
  `body = replace(body, '${to}', '${from}')`,
]

/** Each is done to the rows of one payment, and undone again. */
const damage: Damage[] = [
  [
    'a column that differs from the body',
    /I5 \S+ is failed, not success/,
    'payments',
    [`status = 'failed'`, `status = 'success'`],
  ],
  [
    'refunds that do not add up',
    /I2 \S+ refunds of 30, the row says 31/,
    'payments',
    ['refunded_amount = 31', 'refunded_amount = 30'],
  ],
  [
    'an impossible history',
    /I3, I4 \S+ created,started,lost,success/,
    'payments',
    replaced('"submitted"', '"lost"'),
  ],
  [
    'a code on a status that has none',
    /I5 \S+ success with code P0010/,
    'payments',
    replaced('"success","at"', '"success","code":"P0010","at"'),
  ],
  [
    'an idempotency key without its payment',
    /I8 key key-1 is of no payment/,
    'idempotency_keys',
    [`account = 'other'`, 'account = (select account from payments p where p.payment_id = $1)'],
  ],
  [
    'an agreement that did not become active',
    /I9 \S+ created/,
    'agreements',
    [`status = 'created'`, `status = 'active'`],
    AGREEMENT,
  ],
  [
    'a message that was never delivered',
    /I11 \S+ still PENDING/,
    'webhook_messages',
    [
      `status = 'PENDING', attempts = replace(attempts, 'SUCCESSFUL', 'FAILED')`,
      `status = 'SUCCESSFUL', attempts = replace(attempts, 'FAILED', 'SUCCESSFUL')`,
    ],
  ],
  [
    'a message about another state',
    /I13/,
    'webhook_messages',
    replaced('"status":"success"', '"status":"failed"'),
  ],
  [
    'a lost message, and one of a type that nobody subscribed to',
    /I14 \S+ not subscribed to[\s\S]*I11 \S+ card_payment_refunded to \S+ 0 messages/,
    'webhook_messages',
    [`event_type = 'other'`, `event_type = 'card_payment_refunded'`],
    `payment_id = $1 and event_type in ('other', 'card_payment_refunded')`,
  ],
  [
    'a request that caused an event which is not there',
    /I22 \S+: \S+ has no event 90/,
    'exchanges',
    replaced('"caused":{"events":[0', '"caused":{"events":[90'),
  ],
]

onEveryDatabase(
  'The invariants',
  service => {
    let payment_id: string

    before(async () => {
      const api = await service().newAccount()
      await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/all' })
      const agreement = await api.post('/v1/agreements', { reference: 'PLAN-1', description: 'x' })
      service().clock.advance(1)
      const payment = await api.createPayment(
        { set_up_agreement: agreement.body.agreement_id },
        { 'Idempotency-Key': 'key-1' },
      )
      payment_id = payment.payment_id
      const page = payment._links.next_url.href
      await api.postForm(page, { scenario: 'success' })
      await api.postForm(`${page}/confirm`, {})
      await api.post(`/v1/payments/${payment_id}/refunds`, { amount: 30 })
      await api.createPayment({
        authorisation_mode: 'agreement',
        agreement_id: agreement.body.agreement_id,
      })
      const declined = await api.createPayment()
      await api.postForm(declined._links.next_url.href, { scenario: 'declined' })
      await flush(service())
    })

    const check = () =>
      checkInvariants(service().database, { now: service().clock.now(), settled: true })

    test('hold after requests of every kind', check)

    for (const [what, seen, table, [there, back], where = 'payment_id = $1'] of damage)
      test(`detect ${what}`, async () => {
        const update = (change: string) =>
          service().database.write([
            { sql: `update ${table} set ${change} where ${where}`, values: [payment_id] },
          ])
        await update(there)
        await assert.rejects(check, seen)
        await update(back)
        await check()
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
  },
  { send: sendNowhere },
)
