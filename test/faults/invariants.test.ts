/** Tests the checks themselves: they accept a sound database and detect each kind of damage. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createAgreement, payByAgreement } from '../support/agreements.ts'
import { choose, payOnPages } from '../support/journeys.ts'
import { flush } from '../support/record.ts'
import { onEveryDatabase } from '../support/service.ts'
import { sendNowhere } from './hostile.ts'
import { checkInvariants, problemsOf, readRows } from './invariants.ts'
import type { Rows } from './rows.ts'

/** The payment that was made with a key, and the rows that belong to it. */
function partsOf({ payments, keys: [key], agreements: [agreement], messages, exchanges }: Rows) {
  const isIts = ({ payment_id }: { payment_id: string }) => payment_id === key?.payment_id
  const payment = payments.find(isIts)
  const refunded = messages.find(row => isIts(row) && row.event_type === 'card_payment_refunded')
  const creating = exchanges.find(row => isIts(row) && row.body.caused?.events[0] === 0)
  const [, , submitted, success] = payment?.body.events ?? []
  const { resource } = refunded?.body ?? {}
  const caused = creating?.body.caused
  return { payment, submitted, success, key, agreement, refunded, state: resource?.state, caused }
}

/** The problem that must be reported for each damage. */
const damage: [seen: RegExp, part: keyof ReturnType<typeof partsOf>, change: object][] = [
  [/I5 \S+ is failed, not success/, 'payment', { status: 'failed' }],
  [/I2 \S+ refunds of 30, the row says 31/, 'payment', { refunded_amount: 31 }],
  [/I3, I4 \S+ created,started,lost,success/, 'submitted', { status: 'lost' }],
  [/I5 \S+ success with code P0010/, 'success', { code: 'P0010' }],
  [/I8 key key-1 is of no payment/, 'key', { account: 'other' }],
  [/I9 \S+ created/, 'agreement', { status: 'created' }],
  [/I11 \S+ still PENDING/, 'refunded', { status: 'PENDING', attempts: [] }],
  [/I13/, 'state', { status: 'failed' }],
  [/I14 \S+ not subscribed to/, 'refunded', { event_type: 'other' }],
  [/I11 \S+ card_payment_refunded to \S+ 0 messages/, 'refunded', { event_type: 'other' }],
  [/I22 \S+: \S+ has no event 90/, 'caused', { events: [90] }],
]

onEveryDatabase('The invariants', { send: sendNowhere }, service => {
  const quiet = () => ({ now: service().clock.now(), settled: true })

  before(async () => {
    const api = await service().newAccount()
    await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/all' })
    const agreement = await createAgreement(api)
    service().clock.advance(1)
    const fields = { set_up_agreement: agreement.agreement_id }
    const payment = await api.createPayment(fields, { 'Idempotency-Key': 'key-1' })
    await payOnPages(api, payment)
    await api.post(`/v1/payments/${payment.payment_id}/refunds`, { amount: 30 })
    await payByAgreement(api, agreement)
    await choose(api, await api.createPayment(), 'declined')
    await flush(service())
  })

  test('hold after requests of every kind', () => checkInvariants(service().database, quiet()))

  test('detect each damage of a row', async () => {
    for (const [seen, part, change] of damage) {
      const rows = await readRows(service().database, quiet())
      Object.assign(partsOf(rows)[part] ?? assert.fail(`there is no ${part}`), change)
      assert.match(problemsOf(rows, quiet()).join('\n'), seen)
    }
  })
})
