/** A list of messages, with what became of each. */

import { attemptsOf, type MessageRow, shownStatus } from '../../../pay/webhooks/message-store.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { causeOf } from '../../explain/causes.ts'
import type { Exchange } from '../../record/exchange.ts'
import type { AccountVisit } from '../frame/page.ts'
import { deliveryTag, link, time, untrusted, wideTable } from '../frame/parts.ts'
import { deliveryText, sentAgainText } from './message-attempts.ts'

/** Failed messages that were accepted when somebody sent them again by hand. */
export type Accepted = ReadonlyMap<string, Exchange>

/** What a list shows of its messages, for its version. */
export const shownOf = (messages: readonly MessageRow[], accepted: Accepted): unknown[] =>
  messages.map(({ message_id, status, attempts }) => [
    message_id,
    status,
    attempts,
    accepted.get(message_id)?.exchange_id,
  ])

type List<Row extends MessageRow> = {
  caption: string
  messages: readonly Row[]
  accepted: Accepted
  /** The link to the webhook of a message, in a list of several webhooks. */
  webhookOf?: (message: Row) => Part
}

export const messageTable = <Row extends MessageRow>(
  { root, now }: AccountVisit,
  { caption, messages, accepted, webhookOf }: List<Row>,
): Html =>
  wideTable({
    caption,
    hidesCaption: true,
    columns: [
      'Event date',
      'Delivery status',
      'Event name',
      ...(webhookOf ? ['Webhook'] : []),
      'Payment',
    ].map(text => ({ text })),
    rows: messages.map(message => {
      const { message_id, payment_id, event_type, created } = message
      return [
        time(created),
        deliveryPart(message, now, accepted.get(message_id)),
        link(`${root}messages/${message_id}`, event_type),
        ...(webhookOf ? [webhookOf(message)] : []),
        link(`${root}payments/${payment_id}`, untrusted(payment_id)),
      ]
    }),
  })

/** The status, and of a message that was not delivered why. `again` is the send by hand that was accepted. */
function deliveryPart(message: MessageRow, now: number, again: Exchange | undefined): Html {
  const shown = shownStatus(message, now)
  const last = attemptsOf(message).at(-1)
  const cause = last && causeOf({ status: last.status_code, result: last.result })
  if (shown === 'FAILED' && again)
    return html`${deliveryTag(shown)} ${untrusted(sentAgainText(again, now))} ${deliveryText(shown, message)}`
  return html`${deliveryTag(shown)} ${shown !== 'SUCCESSFUL' && shown !== 'PENDING' && cause && untrusted(cause)}`
}
