import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ACTIVE_WEBHOOKS } from '../../src/core/budgets.ts'
import type { Webhook } from '../../src/pay/webhooks/webhook.ts'
import type { AccountRecord } from '../../src/tools/explain/check/record.ts'
import { rules } from '../../src/tools/explain/check/report.ts'
import { situationsOf } from '../../src/tools/explain/check/situations.ts'
import type { Evidence } from '../../src/tools/record/exchange.ts'

/** Reads of one exchange. A rule holds the event loop until it has looked at the whole record. */
const MOST_LOOKS = 100

const EXCHANGES = 1_000

/** The worst records for a rule: the account's clock stands still, and one value is everywhere. */
const worst: Record<string, (i: number) => Partial<Evidence>> = {
  'equal refusals': () => ({ status: 422, code: 'P0101', field: 'amount', content }),
  'posts at once': i => ({ status: 201, ms: 2, payment_id: `${i}`, created }),
  'equal posts whose answer was lost': () => ({
    status: 201,
    ended: 'gone',
    effect: true,
    created,
    content,
  }),
  'refunds of one payment, each of them read': i => ({
    operation: i % 2 === 0 ? 'refundPayment' : 'readRefund',
    status: 200,
    payment_id: 'payment',
    effect: true,
    content,
    shown: 'refund submitted',
  }),
  'payments of one reference, and searches for it': i =>
    i % 2 === 0
      ? { kind: 'page', operation: 'confirm', payment_id: `${i}`, state: 'success', reference }
      : { operation: 'searchPayments', status: 200, searched: reference },
  'reads of one payment': () => ({
    operation: 'readPayment',
    status: 200,
    payment_id: 'payment',
    shown: 'failed P0010 final',
  }),
  'payments with one agreement': i => ({
    status: 201,
    payment_id: `${i}`,
    created: { mode: 'agreement', agreement: 'agree' },
    shown: 'failed P0010 again',
  }),
  'messages to many webhooks': i => ({
    kind: 'out',
    operation: 'card_payment_succeeded',
    status: i % 3 === 0 ? 200 : 500,
    payment_id: `${i % 100}`,
    message_id: `${i}`,
    webhook_id: `${i % ACTIVE_WEBHOOKS}`,
  }),
}
const created = { mode: 'web' } as const
const content = 'hash'
const reference = 'hash'

const webhooks = Array.from(
  { length: ACTIVE_WEBHOOKS },
  (_, i): Webhook => ({
    webhook_id: `${i}`,
    room: 'room',
    status: 'ACTIVE',
    callback_url: `https://receiver-${i}.example/`,
    description: '',
    subscriptions: ['card_payment_succeeded'],
    signing_key: '',
  }),
)

/** Counts how often a rule reads a value of the exchanges. */
function recordOf(make: (i: number) => Partial<Evidence>) {
  const counter = { looks: 0 }
  const exchanges = Array.from({ length: EXCHANGES }, (_, i) => {
    const exchange: Evidence = {
      exchange_id: `${i}`,
      payment_id: null,
      message_id: null,
      kind: 'api',
      operation: 'createPayment',
      status: null,
      began: i,
      at: 0,
      ms: 1,
      ended: 'sent',
      ...make(i),
    }
    return new Proxy(exchange, {
      get(target, name) {
        counter.looks += 1
        return Reflect.get(target, name)
      },
    })
  })
  const record: AccountRecord = {
    now: Date.UTC(2026, 8, 14),
    behaviour: 'specification',
    isTest: false,
    since: 0,
    from: 0,
    kept: EXCHANGES,
    not_kept: 0,
    exchanges,
    ofPayment: Map.groupBy(exchanges, ({ payment_id }) => payment_id ?? ''),
    lastGap: -Infinity,
    webhooks,
    toProbe: undefined,
    own: new Set(),
    creates: new Map(exchanges.map(each => [each.payment_id ?? '', each])),
    capturable: [],
    newest: 0,
  }
  counter.looks = 0
  return { record, counter }
}

for (const [name, make] of Object.entries(worst))
  test(`a rule reads each exchange only a few times, whatever the record: ${name}`, async () => {
    const { record, counter } = recordOf(make)
    for (const { id, evaluate } of [...rules, { id: 'situations', evaluate: situationsOf }]) {
      const before = counter.looks
      await evaluate(record)
      const each = (counter.looks - before) / EXCHANGES
      assert.ok(each <= MOST_LOOKS, `${id} looks ${each} times`)
    }
  })
