/** Takes the due steps of payments: each once, in order of time, and in one commit with its messages. */
import type { Account } from '../../core/account.ts'
import { createSharing } from '../../core/gather.ts'
import { guestOf, workFor } from '../../core/guests.ts'
import type { AccountTime, Database, Statement } from '../../core/ports.ts'
import { accountOfRoom } from '../../platform/accounts/store.ts'
import { cardOfAgreement } from '../agreements/store.ts'
import type { CardDetails } from '../card.ts'
import type { Context } from '../context.ts'
import { expiry } from '../differences/states.ts'
import { activeWebhooks } from '../webhooks/store.ts'
import type { Message } from '../webhooks/webhook.ts'
import { agreementAfter, changePayment, messagesOf } from './commands.ts'
import { dueStep } from './due.ts'
import type { Change, Payment } from './payment.ts'
import { takeStep } from './scenario.ts'
import { findByToken, findDue, findPayment, hasDue, roomsWithDue, savePayment } from './store.ts'

/** The most payments whose steps share a commit, and its most messages. They take some milliseconds of this thread. */
const STEPS_AT_ONCE = 32

/** The most batches beyond the first of each account, before all accounts are searched again. */
const BATCHES_AT_ONCE = 100

const isDue = ({ due_at }: Payment, now: AccountTime): boolean => due_at !== null && due_at <= now

/** The payment after its due steps. Undefined if the account has no such payment, or if it is gone. */
export async function currentPayment(context: Context, account: Account, payment_id: string) {
  const find = () => findPayment(context.database, account, payment_id, context.time.now(account))
  const found = await find()
  if (!found || !isDue(found, context.time.now(account))) return found
  await takeSteps(context, account, payment_id)
  return find()
}

/** A function that reads the payment for `changePayment`, as `currentPayment` does. */
export const reading = (context: Context, account: Account, payment_id: string) => async () => {
  const payment = await currentPayment(context, account, payment_id)
  return payment && { account, payment }
}

/** As `findByToken`, but returns the payment after its due steps. */
export async function currentByToken(context: Context, token: string) {
  const found = await findByToken(context, token)
  if (!found || !isDue(found.payment, context.time.now(found.account))) return found
  await takeSteps(context, found.account, found.payment.payment_id)
  return findByToken(context, token)
}

/** One batch of a room at a time, so that readers and a moved clock do not race each other. */
const allTurns = new WeakMap<Database, ReturnType<typeof createSharing<boolean>>>()

function turnsOf(database: Database) {
  const turns = allTurns.get(database) ?? createSharing<boolean>()
  allTurns.set(database, turns)
  return turns
}

/** Takes all due steps of the account, in order of time. Ends if the account was reset, or its clock stopped, since. */
export async function doDue(context: Context, account: Account): Promise<void> {
  const { database, time } = context
  while (await hasDue(database, account.room, time.now(account)))
    if (!(await doBatch(context, account))) return
}

/** As `doDue`, but without a query under `specification`: the background takes steps from an earlier behaviour. */
export const doDueOf = (context: Context, account: Account): Promise<void> | undefined =>
  expiry[account.behaviour] ? doDue(context, account) : undefined

/**
 * Takes the due steps of all accounts: a batch of each, then at most BATCHES_AT_ONCE more, until `stop` is aborted. A
 * fault in one account, such as no space for its messages, is thrown after the steps of the others.
 */
export async function doAllDue(context: Context, stop?: AbortSignal): Promise<void> {
  const { database, time } = context
  let fault: unknown
  const doOne = (account: Account) =>
    workFor(guestOf(account), () => doBatch(context, account)).catch(error => {
      fault = error
      return false
    })
  const busy: Account[] = []
  for await (const { id, least, ...account } of roomsWithDue(database, stop)) {
    if (stop?.aborted) return
    if (account.name === null || least > time.now(account)) continue
    if (await doOne(account)) busy.push(account)
  }
  // The loop reaches what it adds. Accounts that became due meanwhile are found by the next call.
  for (const account of busy.values().take(BATCHES_AT_ONCE)) {
    if (stop?.aborted) return
    if (await doOne(account)) busy.push(account)
  }
  if (fault && !stop?.aborted) throw fault
}

/** Resolves to false if nothing is due. Reads the account again: callers share batches, and a clock may have moved. */
function doBatch(context: Context, { room }: Account): Promise<boolean> {
  return turnsOf(context.database)(room, async () => {
    const { database, time } = context
    const account = await accountOfRoom(database, room)
    if (!account) return false
    const now = time.now(account)
    const webhooks = await activeWebhooks(database, room)
    const limit = Math.max(1, Math.floor(STEPS_AT_ONCE / Math.max(1, webhooks.length)))
    const payments = await findDue(database, room, now, limit)
    // Steps that follow from these come before those of the next batch.
    const until = payments.length < limit ? now : (payments.at(-1)?.due_at ?? now)
    const changes = await changesUntil(context, payments, until)
    const statements: Statement[] = []
    const messages: Message[] = []
    for (const change of changes) {
      statements.push(savePayment(change), ...(await agreementAfter(database, change)))
      messages.push(...(await messagesOf(context, change, webhooks)))
    }
    const written = await context.deliveries.write(room, statements, messages).catch(() => false)
    if (written) await context.deliveries.deliver(messages)
    // One of the payments has changed meanwhile, or there is no space for all the messages.
    else
      for (const { payment_id, due_at } of payments)
        await takeSteps(context, account, payment_id, due_at)
    return payments.length > 0
  })
}

/**
 * Takes all steps of one payment that are due by now, unless another request was faster. Without `due_at`, a payment
 * that is gone by now is left to the background.
 */
async function takeSteps(
  context: Context,
  account: Account,
  payment_id: string,
  due_at?: AccountTime | null,
) {
  const { database, time } = context
  let card: CardDetails | undefined
  const read = async () => {
    const payment = await findPayment(database, account, payment_id, due_at ?? time.now(account))
    card = payment && (await cardOf(context, payment))
    return payment && { account, payment }
  }
  const take = (payment: Payment, now: AccountTime) =>
    isDue(payment, now) ? takeStep(payment, card) : undefined
  // Time is the cause, and not the request that finds the step due.
  const own = { ...context, recordEffects: undefined }
  while ((await changePayment(own, read, take))?.moved);
}

/** The steps of the payments that are due up to `until`, and those that follow from them, in order of time. */
async function changesUntil(context: Context, payments: Payment[], until: AccountTime) {
  const changes: Change[] = []
  for (let payment of payments)
    while (isDue(payment, until)) {
      const change = takeStep(payment, await cardOf(context, payment))
      changes.push(change)
      payment = change.after
    }
  return changes.sort((one, other) => one.at - other.at)
}

const cardOf = async ({ database }: Context, payment: Payment): Promise<CardDetails | undefined> =>
  dueStep(payment)?.step === 'charge'
    ? cardOfAgreement(database, payment.room, payment.given.agreement_id)
    : undefined
