/** Commands of payments, their refunds and the card that they need. */
import fc from 'fast-check'
import { type Account, isGone, nthNewest, type Step, type World } from './model.ts'
import type { Agreement } from './model-agreements.ts'
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
import {
  cancel,
  capture,
  isOpen,
  type Payment,
  read,
  readEvents,
  statusOf,
} from './model-payments.ts'
import { type Asked, readRefund, readRefunds, refund, refundSummary } from './model-refunds.ts'

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
  uses: oneOf('nothing', 'an agreement', 'an agreement', 'any agreement', 'no agreement'),
  type: maybe(oneOf('instalment', 'recurring', 'unscheduled')),
  idempotencyKey: maybe(oneOf('key-1', 'key-2', 'KEY-1', 'k')),
  fault: fc.nat(faults.length - 1),
  faulty: rarely(8),
})

/** What can be used is found more often than not; agreement mode then finds an active one. */
function findAgreement(world: World, { account, mode, uses, nth }: Made): Agreement | undefined {
  if (uses === 'no agreement') return undefined
  if (uses === 'any agreement') return nthNewest(world.agreements, nth)
  const own = world.agreements.filter(agreement => agreement.account === account)
  const active = own.filter(({ status }) => status === 'active')
  return nthNewest(mode === 'agreement' && active.length > 0 ? active : own, nth)
}

type Made = { account: Account; mode: Mode; uses: string; nth: number }

const creating = command('create a payment', newPayment, (world, made) => {
  const { account, nth, uses, fault, faulty, ...wanted } = made
  const { mode } = wanted
  const found = findAgreement(world, made)
  const sets = mode === 'web' && (found ? uses !== 'nothing' : uses === 'no agreement')
  const isUsed = mode === 'agreement' || sets
  const agreement = isUsed && { agreement: found ?? ('unknown' as const) }
  // What agreement mode does not allow is among the faults.
  const plain = mode === 'agreement' && { email: undefined, prefilled: undefined, moto: undefined }
  const wrong = faulty ? faults[fault] : undefined
  const applies = wrong && (wrong.modes ?? [mode]).includes(mode) && !(wrong.alone && isUsed)
  return create(world, account, { ...wanted, ...agreement, ...plain }, applies ? wrong : undefined)
})

type OnPayment = (world: World, account: Account, payment: Payment | undefined) => Step

/** One of those that pass the test; rarely, or when none does, any at all. */
function find(world: World, nth: number, test: (payment: Payment) => boolean = () => true) {
  const fit = world.payments.filter(payment => !isGone(world, payment) && test(payment))
  return nthNewest(nth <= 3 && fit.length > 0 ? fit : world.payments, nth)
}

const onPayment = (name: string, step: OnPayment, test?: (payment: Payment) => boolean): Choices =>
  command(name, target, (world, { nth, stranger }) => {
    const payment = find(world, nth, test)
    return step(world, asker(payment, stranger), payment)
  })

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
    const payment = find(world, nth, it => refundSummary(it).status === 'available')
    return refund(world, asker(payment, stranger), payment, asked, belief)
  },
)

const readingRefund = command(
  'read a refund',
  fc.record({ target, other: nth }),
  (world, { target: { nth, stranger }, other }) => {
    const payment = find(world, nth, ({ refunds }) => refunds.length > 0)
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
    again: rarely(3),
  }),
  (world, { nth, card, as, fault, again }) => {
    const payment = find(world, nth, it => it.mode === 'moto_api' && (again || isOpen(it)))
    const wrong = fault === undefined ? undefined : cardFaults[fault]
    return authorise(world, payment, card, as, wrong)
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
    over: rarely(5),
  }),
  (world, { nth, over, ...wanted }) =>
    visit(
      world,
      find(world, nth, it => it.mode === 'web' && (over || isOpen(it))),
      wanted,
    ),
)

const choosingSuccess = command(
  'choose success',
  fc.record({ nth, by: oneOf('path' as const, 'form' as const) }),
  (world, { nth, by }) => {
    const payment = find(world, nth, it => it.mode === 'web' && isOpen(it) && !it.chosen)
    return visit(world, payment, { by, action: 'choose', scenarios: ['success'] })
  },
)

/** Where success was chosen before. */
const confirming = command(
  'confirm',
  fc.record({ nth, by: oneOf('path' as const, 'form' as const), cancels: rarely(8) }),
  (world, { nth, by, cancels }) => {
    const scenarios = cancels ? ['cancel'] : []
    return visit(
      world,
      find(world, nth, it => it.chosen),
      { by, action: 'confirm', scenarios },
    )
  },
)

export const paymentCommands = weighted(
  [24, creating],
  [4, onPayment('read a payment', read)],
  [1, onPayment('look at a payment', (world, from, it) => read(world, from, it, 'HEAD'))],
  [3, onPayment('read events', readEvents)],
  [3, onPayment('cancel', cancel)],
  [2, onPayment('capture', capture)],
  [5, onPayment('capture what can be', capture, it => statusOf(it) === 'capturable')],
  [3, onPayment('read refunds', readRefunds)],
  [12, refunding],
  [2, readingRefund],
  [12, authorising],
  [16, visiting],
  [14, choosingSuccess],
  [14, confirming],
)
