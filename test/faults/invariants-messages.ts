/** Invariants of webhook messages: recipients, attempts, bodies and their number. */
import { timeOf } from '../../src/core/ids.ts'
import { type EventType, eventsOfMove } from '../../src/pay/differences/messages.ts'
import type { MessageRow, PaymentRow, Rows, WebhookRow } from './rows.ts'

export function messageProblems(rows: Rows, { settled = false }: { settled?: boolean }): string[] {
  const webhooks = new Map(rows.webhooks.map(webhook => [webhook.webhook_id, webhook]))
  const payments = new Map(rows.payments.map(payment => [payment.payment_id, payment]))
  const told = Map.groupBy(rows.messages, message => message.webhook_id)
  const histories = historiesOf(rows)
  return [
    ...rows.messages.flatMap(message => {
      const webhook = webhooks.get(message.webhook_id)
      const payment = payments.get(message.payment_id)
      if (!webhook && timeOf(message.webhook_id) < rows.since) return []
      if (!webhook || !payment) return [`I14 ${message.message_id}: its webhook or payment is gone`]
      return [
        ...recipientProblems(message, webhook, payment),
        ...attemptProblems(message, webhook, settled),
        ...bodyProblems(message, payment),
      ]
    }),
    ...rows.webhooks.flatMap(webhook =>
      countProblems(
        webhook,
        histories.get(webhook.account) ?? [],
        told.get(webhook.webhook_id) ?? [],
      ),
    ),
  ]
}

/** I14: the webhook is of the account, existed at the change, and is subscribed. */
function recipientProblems(message: MessageRow, webhook: WebhookRow, payment: PaymentRow) {
  const { message_id, event_type, created } = message
  const problems = []
  if (webhook.account !== payment.account) problems.push('of another account')
  if (!webhook.body.subscriptions.some(type => type === event_type))
    problems.push('not subscribed to')
  if (timeOf(webhook.webhook_id) > created) problems.push('older than its webhook')
  return problems.map(what => `I14 ${message_id}: ${what}`)
}

/** I11: at most two attempts, none after a success, and the status says how they ended. */
function attemptProblems(message: MessageRow, webhook: WebhookRow, settled: boolean): string[] {
  const { message_id, attempts, status } = message
  const delivered = attempts.map(attempt => attempt.status === 'SUCCESSFUL')
  const problems = []
  if (attempts.length > 2) problems.push(`${attempts.length} attempts`)
  if (delivered.slice(0, -1).includes(true)) problems.push('an attempt after a success')
  if ((status === 'SUCCESSFUL') !== (delivered.at(-1) === true)) problems.push(`is ${status}`)
  if (status === 'FAILED' && attempts.length < 2 && webhook.status === 'ACTIVE')
    problems.push(`given up after ${attempts.length} attempts`)
  if (status === 'PENDING' && (settled || attempts.length >= 2)) problems.push('still PENDING')
  if (attempts.some(({ at }) => at < message.created)) problems.push('sent before the change')
  return problems.map(what => `I11 ${message_id}: ${what}`)
}

/** The part of I13 that the rows show: the resource is the payment at the time of the change. */
function bodyProblems(message: MessageRow, payment: PaymentRow): string[] {
  const { message_id, payment_id, event_type, created, body } = message
  if (body === null) return [`I13 ${message_id}: the body is gone before its payment`]
  const { resource } = body
  const { status } = resource.state
  const summary = resource.refund_summary
  const isOfMove = changesOf(payment).some(
    change =>
      change.at === created &&
      change.status === status &&
      change.types.some(type => type === event_type),
  )
  const fits =
    body.webhook_message_id === message_id &&
    body.event_type === event_type &&
    body.resource_id === payment_id &&
    resource.payment_id === payment_id &&
    resource.amount === payment.amount &&
    body.created_date === new Date(created).toISOString() &&
    (event_type === 'card_payment_refunded' ? status === 'success' : isOfMove) &&
    summary.amount_available + summary.amount_submitted === payment.amount
  return fits ? [] : [`I13 ${message_id}: ${JSON.stringify(body)}`]
}

/** I11: one message per change and event type to each webhook that existed at the change and still does. */
function countProblems(webhook: WebhookRow, histories: History[], messages: MessageRow[]) {
  const told = Map.groupBy(messages, ({ payment_id, event_type }) => `${payment_id} ${event_type}`)
  const problems: string[] = []
  const made = timeOf(webhook.webhook_id)
  for (const { payment_id, changes } of histories) {
    for (const event_type of webhook.body.subscriptions) {
      const times = changes.filter(change => change.types.includes(event_type)).map(({ at }) => at)
      const count = told.get(`${payment_id} ${event_type}`)?.length ?? 0
      const least = webhook.status === 'ACTIVE' ? times.filter(at => at > made).length : 0
      const most = times.filter(at => at >= made).length
      if (count < least || count > most)
        problems.push(
          `I11 ${payment_id}, ${event_type} to ${webhook.webhook_id}: ${count} messages`,
        )
    }
  }
  return problems
}

type History = { payment_id: string; account: string; changes: TimedChange[] }

/** By account, the changes about which a webhook that always existed would have got messages. */
function historiesOf({ payments, refunds }: Rows): Map<string, History[]> {
  const refundsOf = Map.groupBy(refunds, refund => refund.payment_id)
  const histories = payments.map(payment => {
    const { payment_id, account } = payment
    const refunded = (refundsOf.get(payment_id) ?? []).map(refund => timeOf(refund.refund_id))
    return { payment_id, account, changes: [...changesOf(payment), ...refunded.map(refundedAt)] }
  })
  return Map.groupBy(histories, ({ account }) => account)
}

type TimedChange = { at: number; types: EventType[] }

const refundedAt = (at: number): TimedChange => ({ at, types: ['card_payment_refunded'] })

const changesOf = ({ body }: PaymentRow) =>
  body.events.map(({ status, at, code }, i) => {
    const from = body.events[i - 1]?.status
    const types = from ? eventsOfMove.specification({ from, to: status, code }) : []
    return { at, status, types }
  })
