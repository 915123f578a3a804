/** The commands of the model test, drawn by fast-check, and events between requests: time, restarts, deaths. */

import { DAY } from '../../src/core/time.ts'
import { eventTypesOf } from '../../src/pay/webhooks/webhook.ts'
import { fc, weighted } from '../support/properties.ts'
import { type Account, isGone, nthNewest, type Step, type World } from './model.ts'
import { agree, cancelAgreement, readAgreement } from './model-agreements.ts'
import {
  type Action,
  type Asked,
  authorise,
  cancel,
  capture,
  create,
  refund,
  visit,
} from './model-moves.ts'
import {
  isOpen,
  listPayments,
  type Payment,
  read,
  readEvents,
  readRefunds,
  refundStatus,
  statusOf,
} from './model-payments.ts'
import { restart, type Subject, take } from './model-run.ts'
import { deliver, type Manners, readMessages, register, removeWebhook } from './model-webhooks.ts'

/** A step that is computed when its turn comes. `words` appear in the report of a failure. */
type Command = { words: string; step: (world: World) => Step }

const command = <Choices>(
  name: string,
  choices: fc.Arbitrary<Choices>,
  step: (world: World, made: Choices) => Step,
): fc.Arbitrary<Command> =>
  choices.map(one => ({ words: `${name} ${fc.stringify(one)}`, step: world => step(world, one) }))

const oneOf = <Value>(...values: Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values)

const rarely = (weight: number): fc.Arbitrary<boolean> =>
  weighted([weight, fc.constant(false)], [1, fc.constant(true)])

const account = oneOf<Account>(0, 0, 0, 1)

/** A place counted from the newest: mostly recent things, sometimes old ones. */
const nth = weighted([9, fc.nat(3)], [1, fc.nat(200)])

/** A thing that its owner or, rarely, the other account asks for. */
const target = fc.record({ nth, stranger: rarely(25) })

function asker(owner: { account: Account } | undefined, stranger: boolean): Account {
  const own = owner?.account ?? 0
  return stranger ? (own === 0 ? 1 : 0) : own
}

/** Usually a payment that passes the test. Rarely, or if none passes, any payment. */
function find(world: World, nth: number, test: (payment: Payment) => boolean) {
  const fit = world.payments.filter(payment => !isGone(world, payment) && test(payment))
  return nthNewest(nth <= 3 && fit.length > 0 ? fit : world.payments, nth)
}

const onPayment = (
  name: string,
  step: (world: World, account: Account, payment: Payment | undefined) => Step,
  test: (payment: Payment) => boolean = () => true,
) =>
  command(name, target, (world, { nth, stranger }) => {
    const payment = find(world, nth, test)
    return step(world, asker(payment, stranger), payment)
  })

const creating = command(
  'create a payment',
  fc.record({
    account,
    nth,
    mode: oneOf<Payment['mode']>('web', 'web', 'web', 'moto_api', 'agreement'),
    amount: oneOf(4650, 4650, 1250, 100, 1, 0, 9_999_999),
    delayed: fc.boolean(),
    uses: oneOf('nothing', 'own agreement', 'own agreement', 'any agreement', 'unknown agreement'),
    idempotencyKey: oneOf(undefined, undefined, undefined, 'key-1', 'key-2'),
  }),
  (world, { account, nth, uses, ...wanted }) => {
    const { mode } = wanted
    const isUsed = mode === 'agreement' || (mode === 'web' && uses !== 'nothing')
    const agreement = findAgreement(world, account, mode, uses, nth) ?? 'unknown'
    return create(world, account, { ...wanted, ...(isUsed && { agreement }) })
  },
)

/** In agreement mode mostly an active agreement. */
function findAgreement(world: World, account: Account, mode: string, uses: string, nth: number) {
  if (uses === 'unknown agreement') return undefined
  if (uses === 'any agreement') return nthNewest(world.agreements, nth)
  const own = world.agreements.filter(agreement => agreement.account === account)
  const active = own.filter(({ status }) => status === 'active')
  return nthNewest(mode === 'agreement' && active.length > 0 ? active : own, nth)
}

const refunding = command(
  'refund',
  fc.record({
    target,
    asked: oneOf<Asked>({ percent: 100 }, { percent: 30 }, { percent: 50 }, { over: 1 }),
    belief: oneOf<'none' | 'right' | 'wrong'>('none', 'none', 'right', 'wrong'),
  }),
  (world, { target: { nth, stranger }, asked, belief }) => {
    const payment = find(world, nth, it => refundStatus(it) === 'available')
    return refund(world, asker(payment, stranger), payment, asked, belief)
  },
)

const authorising = command(
  'authorise',
  fc.record({ nth, isDeclined: rarely(4), again: rarely(3) }),
  (world, { nth, isDeclined, again }) => {
    const payment = find(world, nth, it => it.mode === 'moto_api' && (again || isOpen(it)))
    return authorise(world, payment, isDeclined)
  },
)

const visiting = command(
  'visit',
  fc.record({
    nth,
    action: oneOf<Action>('open', 'open', 'success', 'declined', 'error', 'cancel', 'confirm'),
    over: rarely(5),
  }),
  (world, { nth, action, over }) => {
    const payment = find(world, nth, it => it.mode === 'web' && (over || isOpen(it)))
    return visit(world, payment, action)
  },
)

const onPages = (name: string, action: Action, test: (payment: Payment) => boolean) =>
  command(name, nth, (world, nth) => visit(world, find(world, nth, test), action))

const all = eventTypesOf.specification

const registering = command(
  'register a webhook',
  fc.record({
    account,
    manners: oneOf<Manners>('accepts', 'accepts', 'hesitates', 'refuses'),
    subscriptions: oneOf(undefined, all, all.slice(1, 3), all.slice(5)),
  }),
  register,
)

const onNewest = <Kind extends 'agreements' | 'webhooks'>(
  name: string,
  kind: Kind,
  step: (world: World, account: Account, found: World[Kind][number] | undefined) => Step,
) =>
  command(name, target, (world, { nth, stranger }) => {
    const found: World[Kind][number] | undefined = nthNewest<World[Kind][number]>(world[kind], nth)
    return step(world, asker(found, stranger), found)
  })

const commands = weighted(
  [24, creating],
  [5, onPayment('read a payment', read)],
  [3, onPayment('read events', readEvents)],
  [3, onPayment('cancel', cancel)],
  [2, onPayment('capture', capture)],
  [5, onPayment('capture a capturable', capture, it => statusOf(it) === 'capturable')],
  [4, onPayment('read refunds', readRefunds, it => it.refunds.length > 0)],
  [12, refunding],
  [12, authorising],
  [14, visiting],
  [14, onPages('choose', 'success', it => it.mode === 'web' && isOpen(it) && !it.chosen)],
  [14, onPages('confirm', 'confirm', it => it.chosen)],
  [6, command('list payments', account, listPayments)],
  [8, command('make an agreement', account, agree)],
  [4, onNewest('read an agreement', 'agreements', (_, of, it) => readAgreement(of, it))],
  [3, onNewest('cancel an agreement', 'agreements', cancelAgreement)],
  [5, registering],
  [2, onNewest('remove a webhook', 'webhooks', (_, of, it) => removeWebhook(of, it))],
  [6, onNewest('read messages', 'webhooks', readMessages)],
)

type ModelCommand = fc.AsyncCommand<World, Subject[]>

const event = (words: string, run: (world: World, subjects: Subject[]) => Promise<void>) =>
  fc.constant<ModelCommand>({ check: () => true, run, toString: () => words })

const waiting = (...choices: number[]) =>
  fc.oneof(
    ...choices.map(ms =>
      event(`wait ${ms} ms`, async world => {
        world.now += ms
      }),
    ),
  )

const dying = (attempts: 0 | 1) =>
  event(`from now on the process dies after ${attempts} attempts`, async (world, subjects) => {
    world.attempts = attempts
    for (const { service } of subjects) service.dieAfter(attempts)
  })

/** The claims of a dead process end within 10 seconds. */
export async function restartAll(world: World, subjects: Subject[]): Promise<void> {
  world.now += world.attempts < 2 ? 10_000 : 1
  world.attempts = 2
  for (const message of world.messages) deliver(world, message)
  await restart(world, subjects)
}

const sweeping = event('sweep', async (_world, subjects) => {
  await Promise.all(subjects.map(({ service }) => service.sweep()))
})

export function modelCommands(most: number) {
  const steps = commands.map(
    ({ words, step }): ModelCommand => ({
      check: () => true,
      run: (world, subjects) => take(world, subjects, step(world)),
      toString: () => words,
    }),
  )
  const all = weighted(
    [200, steps],
    // Around the two limits: a refund is submitted for 5 seconds, a payment is kept for 7 days.
    [16, waiting(1, 999, 4_999, 5_000, 60_000)],
    [1, waiting(DAY, 7 * DAY - 60_000, 7 * DAY - 1, 7 * DAY)],
    [2, event('restart', restartAll)],
    [1, dying(0)],
    [1, dying(1)],
    [1, sweeping],
  )
  return fc.commands([all], { maxCommands: most, size: 'max' })
}
