import type { FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import * as errors from '../../core/errors.ts'
import type { AccountTime, Database, Ports, Statement } from '../../core/ports.ts'
import { untilWritten } from '../../core/retry.ts'
import { keptAddresses } from '../../platform/http/addresses.ts'
import type { Caused } from '../../platform/http/request-state.ts'
import { type Agreement, activate, canBeSetUp, deactivate } from '../agreements/agreement.ts'
import { findAgreement, holdAgreement, saveAgreement } from '../agreements/store.ts'
import type { Context } from '../context.ts'
import { unknownSetUp, usedKey } from '../differences/creating.ts'
import { wordedError } from '../differences/errors.ts'
import { chargeDelay, secondCapture } from '../differences/states.ts'
import { activeWebhooks } from '../webhooks/store.ts'
import { type Message, messagesFor, type Webhook } from '../webhooks/webhook.ts'
import { advance } from './advance.ts'
import { dueStep } from './due.ts'
import {
  behaviourOf,
  type Change,
  isAuthorised,
  isQueuedForCapture,
  type NewPayment,
  type Origin,
  type Payment,
  type Scenario,
  type Status,
  stateOf,
  statusOf,
} from './payment.ts'
import { presentPayment } from './response.ts'
import { pursue } from './scenario.ts'
import { findKeyHolder, insertPayment, savePayment, takeIdempotencyKey } from './store.ts'
import type { Trigger } from './transitions.ts'

type Input = {
  given: NewPayment
  /** A hash of the request, if its Idempotency-Key may repeat it: see repeat.ts. */
  asked?: string | undefined
  /** Makes the return_url from the payment's identifier, instead of the one in `given`. */
  returnTo?: ((payment_id: string) => string) | undefined
  origin?: Origin | undefined
}

type Creation = Input & {
  account: Account
  /** The address at which the client reached the API. */
  address: string
  idempotencyKey?: string | undefined
  scenarios?: Scenarios | undefined
}

/** The scenarios that plans have for the payment or refund that a request creates. */
export type Scenarios = {
  /** The scenario of a new payment or refund. `write` also counts it for the plans that match, in the same commit. */
  apply: (
    payment: Pick<Payment, 'given'> & { payment_id?: string },
  ) => Promise<{ applied: Scenario | undefined; write?: Database['write'] | undefined }>
  /** Writes that count the same plans take turns. Messages follow after the turn: their receivers may send requests. */
  inTurn?: <Written>(write: () => Promise<Written>) => Promise<Written>
}

/** undefined if no plan has a scenario. */
export type ScenariosOf = (request: FastifyRequest) => Scenarios | undefined

/**
 * Creates a payment. In agreement mode it has its final state, or its charge is due soon. Resolves once the messages
 * were delivered. Throws an ApiError if an agreement cannot be used or the key is taken.
 */
export async function createPayment(context: Context, creation: Creation): Promise<Payment> {
  const { database } = context
  const { account, given } = creation
  const isIgnored = usedKey[account.behaviour](given.authorisation_mode) === 'ignored'
  const idempotencyKey = isIgnored ? undefined : creation.idempotencyKey
  const base_url = context.config.baseUrl === undefined ? creation.address : undefined
  const { apply, inTurn = runAtOnce } = creation.scenarios ?? {}
  const write = async () => {
    const agreement = await usedAgreement(context, account, given)
    const plans = await apply?.({ given })
    const now = context.time.now(account)
    const input = { ...creation, agreement, applied: plans?.applied, base_url }
    const change = makePayment(context, account, now, input)
    const messages = await messagesOf(context, change)
    const statements = [
      // The statement most likely to miss comes first, so that little is rolled back.
      ...(idempotencyKey ? [takeIdempotencyKey(change.after, idempotencyKey)] : []),
      ...(agreement ? [useAgreement(agreement, change.after)] : []),
      insertPayment(change.after),
    ]
    const written = await context.deliveries.write(account.room, statements, messages, {
      write: plans?.write,
    })
    if (written) return { payment: change.after, messages }
    // The write missed because the key is taken, or because the agreement or a plan changed after it was read.
    if (idempotencyKey && (await findKeyHolder(database, account, idempotencyKey, now)))
      throw wordedError[account.behaviour](errors.idempotencyKeyUsed())
    return undefined
  }
  const { payment, messages } = await inTurn(() => untilWritten(write))
  context.recordEffects?.({ account, payment, caused: causedBy(payment, 0, messages) })
  await context.deliveries.deliver(messages)
  return payment
}

const runAtOnce = <Written>(write: () => Promise<Written>): Promise<Written> => write()

/** The positions of all events but the first `before`, and the identifiers of the messages, for the record. */
export function causedBy({ events }: Payment, before: number, messages: Message[]): Caused {
  const positions = [...events.keys().drop(before)]
  return { events: positions, messages: messages.map(({ message_id }) => message_id) }
}

/** Throws an ApiError for an agreement that is not active, and for a set_up_agreement that cannot be set up. */
async function usedAgreement(
  { database, recordEffects }: Context,
  account: Account,
  { authorisation_mode, agreement_id, set_up_agreement }: NewPayment,
): Promise<Agreement | undefined> {
  const { room, behaviour } = account
  if (set_up_agreement) {
    const agreement = await findAgreement(database, room, set_up_agreement)
    if (!agreement) throw unknownSetUp[behaviour]()
    if (!canBeSetUp(agreement, behaviour)) throw errors.cancelledSetUpAgreement()
  }
  if (authorisation_mode !== 'agreement' || !agreement_id) return undefined
  const agreement = await findAgreement(database, room, agreement_id)
  if (!agreement) throw errors.unknownAgreement()
  recordEffects?.({ account, agreement: agreement.status })
  if (agreement.status !== 'active' || !agreement.instrument) throw errors.inactiveAgreement()
  return agreement
}

type Extras = {
  agreement?: Agreement | undefined
  applied?: Scenario | undefined
  base_url?: string | undefined
}

/** Makes a payment without writing it. With an agreement, it has ended already, or its charge is queued. */
export function makePayment(
  { newId, secrets }: Pick<Ports, 'newId' | 'secrets'>,
  { room, behaviour }: Pick<Account, 'room' | 'behaviour'>,
  now: AccountTime,
  { given, agreement, applied, asked, base_url, returnTo, origin }: Input & Extras,
): Omit<Change, 'before'> {
  const payment_id = newId(now, room)
  const payment: Payment = {
    payment_id,
    room,
    version: 1,
    given: returnTo ? { ...given, return_url: returnTo(payment_id) } : given,
    provider_id: secrets.uuid(room),
    secret: secrets.secret(room),
    events: [{ status: 'created', at: now }],
    success_chosen: false,
    due_at: null,
    refunded_amount: 0,
    ...(behaviour !== 'specification' && { behaviour }),
    ...applied,
    ...(base_url && { base_url }),
    ...(origin && { origin }),
    ...(asked && { asked }),
  }
  const used =
    agreement &&
    (chargeDelay[behaviour] === undefined
      ? pursue(payment, payment, now, agreement.instrument?.card)
      : advance(payment, 'queue_charge', now))
  if (used) return used
  const due_at = dueStep(payment)?.at ?? null
  return { after: { ...payment, due_at }, at: now, sends: [] }
}

type Read = () => Promise<{ payment: Payment; account: Account } | undefined>

type Beside = {
  /** Further statements of the same commit. */
  also?: (change: Change) => Statement[]
  scenarios?: Scenarios | undefined
}

/**
 * Changes a payment: reads it, decides, and writes the change, the webhook messages and `also` in one commit. Repeats
 * all of it if the compare-and-swap fails. Delivers the messages afterwards, so that a fault in delivery cannot repeat
 * the write. `decide` gets the scenario that a plan has for the change. It returns undefined if there is nothing to do,
 * and may throw an ApiError. Resolves to undefined if `read` finds no payment.
 */
export async function changePayment(
  context: Context,
  read: Read,
  decide: (payment: Payment, now: AccountTime, applied: Scenario) => Change | undefined,
  { also, scenarios }: Beside = {},
) {
  const { recordEffects } = context
  const { apply, inTurn = runAtOnce } = scenarios ?? {}
  const write = async () => {
    const found = await read()
    if (found) recordEffects?.(found)
    const plans = found && (await apply?.(found.payment))
    const change =
      found && decide(found.payment, context.time.now(found.account), plans?.applied ?? {})
    if (!change) return { found }
    const messages = await messagesOf(context, change)
    const statements = [
      savePayment(change),
      ...(also?.(change) ?? []),
      ...(await agreementAfter(context.database, change)),
    ]
    const { room } = change.after
    const { write } = plans ?? {}
    const written = await context.deliveries.write(room, statements, messages, { write })
    return written ? { found, change, messages } : undefined
  }
  const { found, change, messages } = await inTurn(() => untilWritten(write))
  if (!change) return found && { payment: found.payment, moved: false }
  const { before, after } = change
  const caused = causedBy(after, before.events.length, messages)
  recordEffects?.({ account: found.account, payment: after, caused })
  await context.deliveries.deliver(messages)
  return { payment: after, moved: true }
}

/** As `changePayment`, by a trigger. If the state does not allow it, `refuse` makes the error, or nothing happens. */
export const movePayment = (
  context: Context,
  read: Read,
  trigger: Trigger,
  refuse?: (status: Status) => Error,
) =>
  changePayment(context, read, (payment, now) => {
    const change = advance(payment, trigger, now)
    if (!change && refuse) throw refuse(statusOf(payment))
    return change
  })

/** Captures a payment, again if its behaviour allows that. Throws an ApiError if its state does not allow a capture. */
export const capturePayment = (context: Context, read: Read, scenarios?: Scenarios) =>
  changePayment(
    context,
    read,
    (payment, now, { capture }) => {
      const change = advance({ ...payment, ...(capture && { capture }) }, 'capture', now)
      const isRepeated =
        statusOf(payment) === 'success' &&
        secondCapture[behaviourOf(payment)] === 'accepted' &&
        !isQueuedForCapture(payment)
      if (!change && !isRepeated) throw errors.cannotCapture(statusOf(payment))
      return change
    },
    { scenarios },
  )

/** The messages of a change, to the webhooks `only` or to all active ones, with the payment as its creator reads it. */
export async function messagesOf(
  { config, database, newId }: Context,
  { after, at, sends }: Omit<Change, 'before'>,
  only?: Webhook[],
): Promise<Message[]> {
  if (sends.length === 0) return []
  const webhooks = only ?? (await activeWebhooks(database, after.room))
  if (webhooks.length === 0) return []
  const news = {
    payment_id: after.payment_id,
    at,
    eventTypes: sends,
    behaviour: behaviourOf(after),
    resource: presentPayment(after, keptAddresses(config, after.base_url)),
  }
  return messagesFor(news, webhooks, newId)
}

/** True if the payment was declined with can_retry false, which ends its agreement. */
const isLastOfAgreement = (payment: Payment): boolean => stateOf(payment).can_retry === false

/** Fails the commit if the agreement changed after it was read. Ends it if the new payment has can_retry false. */
const useAgreement = (agreement: Agreement, payment: Payment): Statement => {
  const ended = isLastOfAgreement(payment) ? deactivate(agreement) : undefined
  return ended ? saveAgreement(ended) : holdAgreement(agreement)
}

/** Specification, *States and transitions*: the update of the agreement that the change makes active, or ends. */
export async function agreementAfter(database: Database, { before, after, at }: Change) {
  const { set_up_agreement, agreement_id } = after.given
  if (agreement_id && isLastOfAgreement(after)) {
    const agreement = await findAgreement(database, after.room, agreement_id)
    const ended = agreement && deactivate(agreement)
    return ended ? [saveAgreement(ended)] : []
  }
  if (!set_up_agreement || !after.card || isAuthorised(before) || !isAuthorised(after)) return []
  const agreement = await findAgreement(database, after.room, set_up_agreement)
  const active = agreement && activate(agreement, after.card, at, behaviourOf(after))
  return active ? [saveAgreement(active)] : []
}
