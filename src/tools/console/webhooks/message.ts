/** One message to one webhook: its result and the reason, its bytes, its attempts, and forms to send it again. */

import { findPayment } from '../../../pay/payments/store.ts'
import { isGone, type Reading } from '../../../pay/retention.ts'
import {
  attemptsOf,
  findMessage,
  type KeptMessage,
  statusAt,
} from '../../../pay/webhooks/message-store.ts'
import { type MessageStatus, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { backLink, button, details, summaryList } from '../../../platform/web/components.ts'
import { select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { type Damage, damages, resendable, sendAgain } from '../../deliver/send-again.ts'
import { causeOf } from '../../explain/causes.ts'
import { answerToWrong, consequenceOf } from '../../explain/wrong-signature.ts'
import { acceptedAmong, attemptsOfMessage, newestOf } from '../../record/by-hand.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { prettyJson } from '../frame/exchange.ts'
import type { PageVisit } from '../frame/list.ts'
import {
  attemptsPart,
  attemptTag,
  damageNames,
  deliveryOf,
  mergeAttempts,
  nameOfAttempt,
  type ShownAttempt,
} from '../frame/message-attempts.ts'
import type { Next } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import { type AccountVisit, existing } from '../frame/visit.ts'
import { ask, askPart } from './receiver.ts'

/** The most attempts that are shown: people may have made many by hand. */
const MOST_ATTEMPTS = 20

export const message = definePage({
  path: 'messages/{message_id}',
  section: 'deliveries',
  async read(visit) {
    const { context, account, now } = visit
    const message = await messageOf(visit)
    const { payment_id, message_id } = message
    const exchanges = await attemptsOfMessage(context.database, message, MOST_ATTEMPTS)
    const payment = await findPayment(context.database, account, payment_id, now)
    const accepted = acceptedAmong(exchanges).get(message_id)
    return {
      message,
      webhook: webhookTitle(message),
      reference: payment?.given.reference,
      accepted,
      attempts: mergeAttempts(attemptsOf(message), exchanges),
      asking: await askPart(visit, message, accepted),
    }
  },
  title: ({ now }, { message, reference = message.payment_id, webhook }) =>
    `${message.event_type} of ${reference} at ${ui.shortTime(message.created, now, 'seconds')} to ${webhook}`,
  // On a phone the line breaks after an underscore, and not within a word.
  heading: (visit, { message, accepted }) =>
    html`${ui.joined(message.event_type.split('_'), html`_<wbr>`)} ${ui.deliveryTag(deliveryOf(message, visit, accepted))}`,
  above: ({ root }, { message, webhook }) =>
    backLink(`${root}webhooks/${message.webhook_id}`, ui.untrusted(webhook)),
  show: (visit, { message, reference, attempts, asking }) =>
    html`${answerToWrongPart(attempts)}<p class="govuk-body-l" id="cause">${ui.untrusted(outcomeOf(message, attempts, visit))}</p>
${asking}
${actions(visit, message, asking !== false)}
${summaryList(rowsFor(message, reference, visit))}
<h2 class="govuk-heading-m">Body</h2>
${bodyPart(message.body)}
<h2 class="govuk-heading-m">Delivery attempts</h2>
${attemptsPart(attempts, visit.root)}`,
  live: async visit => {
    const message = await messageOf(visit)
    const [newest] = await newestOf(visit.context.database, message, 1)
    const { attempts, webhook_status } = message
    return {
      version: [statusAt(message, visit), attempts, webhook_status, newest?.exchange_id],
    }
  },
  actions: {
    send: sendFromPage,
    ask: async visit => ask(visit, await messageOf(visit)),
  },
})

async function messageOf(visit: PageVisit) {
  const { context, id } = visit
  const { room } = visit.account
  const message = existing(await findMessage(context.database, room, id))
  return { ...message, room, ...(isGone(message.payment_id, visit) && { body: null }) }
}

async function sendFromPage(visit: PageVisit): Promise<Next> {
  const message = resendable(await messageOf(visit), visit)
  const to = `messages/${visit.id}`
  if ('reason' in message) return { to, done: 'not-sent' }
  const { form } = visit
  const damage = damages.find(known => known === form.get(DAMAGE))
  // The list of the page sends no other damage.
  if (form.has(DAMAGE) && !damage) throw pageFault(400)
  // There is no banner: the page of the message shows the result.
  await sendAgain(visit.context, visit.account, message, { damage })
  return { to }
}

/** The receiver's answer to a signature that was wrong on purpose, if the newest attempt had one. */
function answerToWrongPart([newest]: readonly ShownAttempt[]): Html | undefined {
  if (!newest || !answerToWrong(newest.ending)) return undefined
  return html`<p id="answer-to-wrong">${attemptTag(newest)}</p>
`
}

function outcomeOf(
  message: KeptMessage,
  attempts: readonly ShownAttempt[],
  reading: Reading,
): string {
  const [newest] = attempts
  const by_hand = newest?.exchange?.by_hand
  if (!by_hand) return whatHappened(message, newest?.ending, reading)
  const { at, ending } = newest
  return [
    `${nameOfAttempt(by_hand)} at ${ui.shortTime(at, reading.now)}: ${ending.result}.`,
    consequenceOf(ending),
    deliveryText(statusAt(message, reading), attemptsOf(message).length),
  ]
    .filter(Boolean)
    .join(' ')
}

function deliveryText(status: MessageStatus, attempts: number): string {
  if (status === 'SUCCESSFUL') return 'The delivery succeeded.'
  if (status === 'PENDING') return 'The delivery is on its way.'
  if (attempts === 0) return 'The message was never delivered.'
  return attempts === 1
    ? 'The attempt of the delivery failed.'
    : `The ${attempts === 2 ? 'two' : attempts} attempts of the delivery failed.`
}

function whatHappened(
  message: KeptMessage,
  ending: ShownAttempt['ending'] | undefined,
  reading: Reading,
): string {
  const status = statusAt(message, reading)
  const cause = ending && causeOf(ending)
  if (status === 'SUCCESSFUL') return `Delivered: the receiver answered ${ending?.result}.`
  if (status === 'PENDING') {
    const at = message.due_at === null ? undefined : ui.shortTime(message.due_at, reading.now)
    if (!cause) return at ? `A plan delays it: it is sent at ${at}.` : 'It is on its way.'
    return `${at ? `The next attempt is made at ${at}` : 'One more attempt follows'}. ${cause}`
  }
  if (cause) return cause
  return message.body === null
    ? 'It was never sent: its payment was gone before.'
    : 'It was never sent: its webhook was deactivated before.'
}

/** `asks`: whether the page offers *Ask the receiver*, which is then the main button. */
function actions(visit: PageVisit, message: KeptMessage, asks: boolean): Html {
  const sendable = resendable(message, visit)
  const send =
    'reason' in sendable
      ? ui.paragraph(`It cannot be sent again: ${sendable.reason}.`)
      : sendForms(visit, !asks)
  return html`${!visit.hasEnded && send}
${message.body !== null && ui.paragraph(ui.link(`${visit.root}signature?message=${message.message_id}`, 'Compare signatures'))}`
}

const rowsFor = (message: KeptMessage, reference: string | undefined, visit: AccountVisit) => [
  ...ui.summaryRows('', {
    'Delivery status': ui.deliveryName(statusAt(message, visit)),
    Payment: ui.link(
      `${visit.root}payments/${message.payment_id}`,
      ui.paymentPart(message.payment_id, reference),
    ),
    'Callback URL': ui.untrusted(message.callback_url),
  }),
  { id: 'message-id', key: 'webhook_message_id', value: message.message_id },
  ...ui.summaryRows('', { 'Event date': ui.time(message.created) }),
]

function bodyPart(body: string | null): Html {
  if (body === null) return ui.paragraph('It was deleted with the payment.')
  const pretty = prettyJson(body)
  return html`${ui.paragraph('These bytes are sent and signed.')}
${ui.listing('Body as it is sent', body)}
${pretty !== undefined && details('With indents', ui.listing('Body with indents', pretty))}`
}

/** The field that names the damage. A form without this field sends the message as it is. */
const DAMAGE = 'damage'

function sendForms(visit: PageVisit, isMain: boolean): Html {
  const damage = html`${select({
    name: DAMAGE,
    label: 'Damage',
    options: damages.map(damage => [damage, sentence(damageNames[damage])] as const),
    value: 'digit' satisfies Damage,
  })}
${button({ id: 'send-damaged', text: 'Send it damaged', secondary: true })}`
  const again = button({ id: 'send-again', text: 'Send again', secondary: !isMain })
  return html`${actionForm(visit, 'send', again)}
${details(
  'Send it damaged',
  html`${ui.paragraph('Your receiver must refuse a damaged message. It counts as no attempt: the status, the history and the payment stay as they are.')}
${actionForm(visit, 'send', damage, 'farthing-filter')}`,
  { id: 'damage-it' },
)}`
}

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)
