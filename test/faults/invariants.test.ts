/** The oracle itself: it passes what is right, and sees each kind of damage. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Send, Value } from '../../src/ports.ts'
import { RETENTION_MS } from '../../src/retention.ts'
import { createAgreement, setUpPayment } from '../support/agreements.ts'
import { payOnPages } from '../support/journeys.ts'
import { onEveryDatabase } from '../support/service.ts'
import { checkInvariants } from './invariants.ts'

const send: Send = async () => ({
  status: 'SUCCESSFUL',
  status_code: 200,
  response_time: 1,
  result: '200 OK',
})

/** Each is done to one row of a whole database, and undone again. */
const damage: { what: string; seen: RegExp; sql: string; undo: string }[] = [
  {
    what: 'a column that is not what the body says',
    seen: /I5 \S+ is failed, not success/,
    sql: `update payments set status = 'failed' where payment_id = $1`,
    undo: `update payments set status = 'success' where payment_id = $1`,
  },
  {
    what: 'refunds that do not add up',
    seen: /I2 \S+ refunds of 30, the row says 31/,
    sql: `update payments set refunded_amount = 31 where payment_id = $1`,
    undo: `update payments set refunded_amount = 30 where payment_id = $1`,
  },
  {
    what: 'a history that cannot be',
    seen: /I3, I4 \S+ created,started,lost,success/,
    sql: `update payments set body = replace(body, '"submitted"', '"lost"') where payment_id = $1`,
    undo: `update payments set body = replace(body, '"lost"', '"submitted"') where payment_id = $1`,
  },
  {
    what: 'a code where there is none',
    seen: /I5 \S+ success with code P0010/,
    sql: `update payments set body = replace(body, '"success","at"', '"success","code":"P0010","at"') where payment_id = $1`,
    undo: `update payments set body = replace(body, '"code":"P0010",', '') where payment_id = $1`,
  },
  {
    what: 'a key without its payment',
    seen: /I8 key key-1 is of no payment/,
    sql: `update idempotency_keys set account = 'other' where payment_id = $1`,
    undo: `update idempotency_keys set account = (select account from payments p where p.payment_id = $1) where payment_id = $1`,
  },
  {
    what: 'an agreement that did not become active',
    seen: /I9 \S+ created/,
    sql: `update agreements set status = 'created' where agreement_id in (select agreement_id from payments where payment_id = $1)`,
    undo: `update agreements set status = 'active' where agreement_id in (select agreement_id from payments where payment_id = $1)`,
  },
  {
    what: 'a message that was lost',
    seen: /I11 \S+ card_payment_captured to \S+ 0 messages/,
    sql: `update webhook_messages set payment_id = 'lost' where payment_id = $1 and event_type = 'card_payment_captured'`,
    undo: `update webhook_messages set payment_id = $1 where payment_id = 'lost'`,
  },
  {
    what: 'a message that was never delivered',
    seen: /I11 \S+ still PENDING/,
    sql: `update webhook_messages set status = 'PENDING', attempts = replace(attempts, 'SUCCESSFUL', 'FAILED') where payment_id = $1`,
    undo: `update webhook_messages set status = 'SUCCESSFUL', attempts = replace(attempts, 'FAILED', 'SUCCESSFUL') where payment_id = $1`,
  },
  {
    what: 'a message about another state',
    seen: /I13/,
    sql: `update webhook_messages set body = replace(body, '"status":"success"', '"status":"failed"') where payment_id = $1`,
    undo: `update webhook_messages set body = replace(body, '"status":"failed"', '"status":"success"') where payment_id = $1`,
  },
  {
    what: 'a message nobody subscribed to',
    seen: /I14 \S+ not subscribed to/,
    sql: `update webhook_messages set event_type = 'card_payment_other' where payment_id = $1 and event_type = 'card_payment_refunded'`,
    undo: `update webhook_messages set event_type = 'card_payment_refunded' where payment_id = $1 and event_type = 'card_payment_other'`,
  },
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
    })

    const check = () =>
      checkInvariants(service().database, { now: service().clock.now(), settled: true })

    test('hold after requests of every kind', check)

    for (const { what, seen, sql, undo } of damage)
      test(`see ${what}`, async () => {
        const { database } = service()
        const values: Value[] = [payment_id]
        await database.write([{ sql, values }])
        await assert.rejects(check, seen)
        await database.write([{ sql: undo, values }])
        await check()
      })

    test('hold for an agreement whose card came with a payment that is gone', async () => {
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
  { send },
)
