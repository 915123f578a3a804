/** Commands of payments, their refunds and the card that they need. */
import fc from 'fast-check'
import { type Account, nthNewest, type Step, type World } from './model.ts'
import {
  account,
  asker,
  type Choices,
  command,
  maybe,
  nth,
  oneOf,
  rarely,
  references,
  target,
  weighted,
} from './model-choices.ts'
import { create, faults, type Mode } from './model-creation.ts'
import { authorise, cardFaults, visit } from './model-journeys.ts'
import { cancel, capture, type Payment, read, readEvents, statusOf } from './model-payments.ts'
import { type Asked, readRefund, readRefunds, refund } from './model-refunds.ts'

const newPayment = fc.record({
  account,
  nth,
  mode: oneOf<Mode>('web', 'web', 'web', 'moto_api', 'agreement'),
  amount: oneOf(4650, 4650, 1250, 100, 1, 0, 10_000_000),
  reference: oneOf(...references),
  description: oneOf('Market pitch, week 38', 'Caffè £4.50 & “tea”', '市場 🧺'),
  language: maybe(oneOf('en' as const, 'cy' as const)),
  delayed: maybe(fc.boolean(), 75),
  moto: maybe(fc.boolean()),
  email: maybe(oneOf('trader@example.org', 'a_b%c@Example.com', ' ')),
  metadata: maybe(oneOf<object>({}, { pitch: 22, covered: true, market: '' }, { 'a b': -0.5 })),
  prefilled: maybe(
    oneOf(
      { cardholder_name: 'Gwen Hughes' },
      { cardholder_name: ' ', billing_address: { line1: '2 High St', country: 'gb', city: '' } },
      { billing_address: { country: 'GBR' } },
      { cardholder_name: "O'Neill & Co", billing_address: { postcode: 'BS1 4ND', country: 'XQ' } },
      { cardholder_name: null, billing_address: null },
    ),
  ),
  uses: oneOf('nothing', 'nothing', 'an agreement', 'no agreement that there is'),
  type: maybe(oneOf('instalment', 'recurring', 'unscheduled')),
  idempotencyKey: maybe(oneOf('key-1', 'key-2', 'KEY-1', 'k')),
  fault: fc.nat(faults.length - 1),
  faulty: rarely(8),
})

const creating = command('create a payment', newPayment, (world, made) => {
  const { account, nth, uses, fault, faulty, ...wanted } = made
  const { mode } = wanted
  const isUsed = mode === 'agreement' || (mode === 'web' && uses !== 'nothing')
  const found = uses.startsWith('no ') ? undefined : nthNewest(world.agreements, nth)
  const agreement = isUsed ? { agreement: found ?? ('unknown' as const) } : {}
  // What agreement mode does not allow is among the faults.
  const plain = mode === 'agreement' && { email: undefined, prefilled: undefined, moto: undefined }
  const wrong = faulty ? faults[fault] : undefined
  const applies = wrong && (wrong.modes ?? [mode]).includes(mode) && !(wrong.alone && isUsed)
  return create(world, account, { ...wanted, ...agreement, ...plain }, applies ? wrong : undefined)
})

type OnPayment = (world: World, account: Account, payment: Payment | undefined) => Step

const onPayment = (name: string, step: OnPayment): Choices =>
  command(name, target, (world, { nth, stranger }) => {
    const payment = nthNewest(world.payments, nth)
    return step(world, asker(payment, stranger), payment)
  })

const having = (world: World, status: string): Payment[] =>
  world.payments.filter(payment => statusOf(payment) === status)

const askedBack = oneOf<Asked>(
  ...[{ percent: 100 }, { percent: 30 }, { percent: 50 }, { percent: 1 }, { over: 1 }],
  { faulty: 0, status: 422, code: 'P0602' },
  { faulty: 10_000_001, status: 422, code: 'P0602' },
  { faulty: '1', status: 400, code: 'P0602' },
  { faulty: null, status: 400, code: 'P0601' },
)

const refunding = command(
  'refund',
  fc.record({
    target,
    asked: askedBack,
    belief: oneOf('none' as const, 'none' as const, 'right' as const, 'wrong' as const),
  }),
  (world, { target: { nth, stranger }, asked, belief }) => {
    const payment = nthNewest(nth === 3 ? world.payments : having(world, 'success'), nth)
    return refund(world, asker(payment, stranger), payment, asked, belief)
  },
)

const readingRefund = command(
  'read a refund',
  fc.record({ target, other: nth }),
  (world, { target: { nth, stranger }, other }) => {
    const refunded = world.payments.filter(({ refunds }) => refunds.length > 0)
    const payment = nthNewest(refunded, nth)
    const wrongPayment = other === 3 ? nthNewest(world.payments, nth) : payment
    const made = nthNewest(payment?.refunds ?? [], other)
    return readRefund(world, asker(payment, stranger), wrongPayment, made)
  },
)

/** One of each brand, one of none, and the one that is declined. */
const cards = [
  '4444333322221111',
  '4000000000000002',
  '5105105105105100',
  '2720992222222222',
  '378282246310005',
  '6011000990139424',
  '3530111333300000',
  '36700102000000',
  '6200000000000005',
  '999999999999',
]

const authorising = command(
  'authorise',
  fc.record({
    nth,
    card: oneOf(...cards),
    as: oneOf('json' as const, 'form' as const),
    fault: maybe(fc.nat(cardFaults.length - 1), 20),
    anyMode: rarely(8),
  }),
  (world, { nth, card, as, fault, anyMode }) => {
    const payments = world.payments.filter(({ mode }) => anyMode || mode === 'moto_api')
    const wrong = fault === undefined ? undefined : cardFaults[fault]
    return authorise(world, nthNewest(payments, nth), card, as, wrong)
  },
)

const scenarios = oneOf(
  ...[['success'], ['success'], ['success'], ['success'], ['declined'], ['error'], ['cancel']],
  ...[[], [''], ['unknown'], ['success', 'success']],
)

const visiting = command(
  'visit',
  fc.record({
    nth,
    by: oneOf('path' as const, 'path' as const, 'form' as const),
    action: oneOf(...(['open', 'open', 'choose', 'choose', 'look', 'review', 'confirm'] as const)),
    scenarios,
    site: maybe(oneOf('same-origin', 'none', 'cross-site')),
    anyMode: rarely(15),
  }),
  (world, { nth, anyMode, ...wanted }) =>
    visit(
      world,
      nthNewest(
        world.payments.filter(p => anyMode || p.mode === 'web'),
        nth,
      ),
      wanted,
    ),
)

/** Where success was chosen, or a moment ago. */
const confirming = command(
  'confirm',
  fc.record({ nth, by: oneOf('path' as const, 'form' as const), cancels: rarely(8) }),
  (world, { nth, by, cancels }) => {
    const chosen = world.payments.filter(payment => payment.chosen)
    const scenarios = cancels ? ['cancel'] : []
    return visit(world, nthNewest(chosen, nth), { by, action: 'confirm', scenarios })
  },
)

export const paymentCommands = weighted(
  [28, creating],
  [6, onPayment('read a payment', read)],
  [1, onPayment('look at a payment', (world, from, it) => read(world, from, it, 'HEAD'))],
  [4, onPayment('read events', readEvents)],
  [5, onPayment('cancel', cancel)],
  [3, onPayment('capture', capture)],
  [
    4,
    command('capture what can be', nth, (world, nth) => {
      const payment = nthNewest(having(world, 'capturable'), nth)
      return capture(world, asker(payment, false), payment)
    }),
  ],
  [3, onPayment('read refunds', readRefunds)],
  [12, refunding],
  [2, readingRefund],
  [12, authorising],
  [32, visiting],
  [14, confirming],
)
