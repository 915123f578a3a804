import { activate } from '../agreements/agreement.ts'
import { findAgreement, saveAgreement } from '../agreements/store.ts'
import type { Farthing } from '../context.ts'
import type { Addresses } from '../http/addresses.ts'
import type { Database, Statement } from '../ports.ts'
import { untilWritten } from '../retry.ts'
import { activeWebhooks } from '../webhooks/store.ts'
import { type Message, messagesFor } from '../webhooks/webhook.ts'
import type { Change, Payment } from './payment.ts'
import { present } from './response.ts'
import { savePayment } from './store.ts'

export type Outcome = { moved: boolean; payment: Payment }

/**
 * The one door for a change of a payment: read, decide, write once, tell the webhooks. Another
 * instance or request may be faster; then it is read and decided again. `decide` answers
 * undefined where there is nothing to do, and may throw an ApiError. `also` is written with the
 * change. The outcome is undefined when `read` finds no payment.
 */
export async function transition(
  farthing: Farthing,
  addresses: Addresses,
  read: () => Promise<Payment | undefined>,
  decide: (payment: Payment) => Change | undefined,
  also: Statement[] = [],
): Promise<Outcome | undefined> {
  const { payment, moved } = await untilWritten(async () => {
    const payment = await read()
    if (!payment) return { payment, moved: false }
    const change = decide(payment)
    if (!change) return { moved: false, payment }
    const messages = await messagesOf(farthing, addresses, change)
    const written = await farthing.database.write([
      savePayment(change),
      ...also,
      ...(await agreementSetUp(farthing.database, change)),
      ...farthing.deliveries.insert(messages),
    ])
    if (!written) return undefined
    await farthing.deliveries.deliver(messages)
    return { moved: true, payment: change.after }
  })
  return payment && { payment, moved }
}

/** What webhooks are to be told of a change: the payment as GET would show it right after. */
export async function messagesOf(
  { database, newId }: Farthing,
  addresses: Addresses,
  { after, at, sends }: Omit<Change, 'before'>,
): Promise<Message[]> {
  if (sends.length === 0) return []
  const webhooks = await activeWebhooks(database, after.account)
  if (webhooks.length === 0) return []
  const news = {
    payment_id: after.payment_id,
    at,
    eventTypes: sends,
    resource: present(after, addresses),
  }
  return messagesFor(news, webhooks, newId)
}

/** SPEC *Agreement*: it becomes active when a payment that sets it up completes, in the same write. */
async function agreementSetUp(
  database: Database,
  { after, at, sends }: Change,
): Promise<Statement[]> {
  const { set_up_agreement } = after.given
  if (!set_up_agreement || !after.card || !sends.includes('card_payment_succeeded')) return []
  const agreement = await findAgreement(database, after.account, set_up_agreement)
  return agreement ? [saveAgreement(activate(agreement, after.card, at))] : []
}
