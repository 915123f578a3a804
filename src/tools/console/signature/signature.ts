import { asTypedHere } from '../../../core/invocation.ts'
import { inDigits } from '../../../core/money.ts'
import { isGone, type Reading } from '../../../pay/retention.ts'
import { findMessage, type MessageRow } from '../../../pay/webhooks/message-store.ts'
import {
  signature as signatureOf,
  type Webhook,
  webhookTitle,
} from '../../../pay/webhooks/webhook.ts'
import { multipartBody } from '../../../platform/http/body.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { button, details, summaryList, tag } from '../../../platform/web/components.ts'
import { fileUpload, input, select, textarea } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Advice } from '../../explain/signature/advice.ts'
import { analyse } from '../../explain/signature/analyse.ts'
import type { Analysis, Difference, SentMessage } from '../../explain/signature/question.ts'
import { listDeliveries, newestWebhooks } from '../../lists/webhooks-store.ts'
import { definePage } from '../frame/define-page.ts'
import { type Typed, typedIn } from '../frame/form.ts'
import { linkOnly, type PageVisit } from '../frame/list.ts'
import * as ui from '../frame/parts.ts'
import type { AccountVisit } from '../frame/visit.ts'
import { questionOf, readSubmission } from './form.ts'

const MOST_MESSAGES = 50
/** The most webhooks whose keys and messages are tried: the newest. */
const MOST_WEBHOOKS = 20

type Compared = Typed & { candidates: Candidates; analysis?: Analysis }

const filters = { message: linkOnly }

export const signature = definePage({
  path: 'signature',
  navigation: 'Signature',
  filters,
  read: async (visit, compared?: Compared) =>
    compared?.candidates ?? candidatesFor(visit, visit.values.message),
  show: (visit, candidates, compared) =>
    html`${compared?.analysis ? result(visit, compared.analysis) : intro}
${formPart(visit, compared, candidates)}`,
  actions: {
    compare: {
      isAtPage: true,
      changesNothing: true,
      accepts: 'multipart',
      // For all accounts one comparison runs at a time. An account has only few places in that queue.
      run: visit => visit.context.reading(visit.request, Symbol(), () => compare(visit)),
    },
  },
})

async function compare(visit: AccountVisit): Promise<Compared> {
  const data = await multipartBody(visit.request)
  if (!data) throw pageFault(400)
  const submission = await readSubmission(data)
  const { form } = submission
  const candidates = await candidatesFor(visit, form.get('message') ?? '')
  const question = questionOf(submission, candidates)
  if ('errors' in question) return { form, candidates, errors: question.errors }
  return { form, candidates, errors: {}, analysis: await analyse(question) }
}

type OwnMessage = SentMessage & { event_type: string }
type Candidates = Awaited<ReturnType<typeof candidatesFor>>

/** The keys and the newest messages of the account, and the message that was picked, which may be an older one. */
async function candidatesFor(visit: AccountVisit, picked: string) {
  const { context, account } = visit
  const { database, config } = context
  const { room } = account
  const webhooks = await newestWebhooks(database, room, MOST_WEBHOOKS)
  const newest = { limit: MOST_MESSAGES, order: 'newest' } as const
  const messages = (await listDeliveries(database, webhooks, {}, newest)).flatMap(row => {
    const webhook = webhooks.find(({ webhook_id }) => webhook_id === row.webhook_id)
    return (webhook && ownMessage(row, webhook, visit)) ?? []
  })
  const found = picked === '' ? undefined : await findMessage(database, room, picked)
  return {
    messages,
    message: found && ownMessage(found, found, visit),
    keys: webhooks.map(webhook => ({ name: webhookTitle(webhook), key: webhook.signing_key })),
    apiKeys: config.fixedKeys.filter(fixed => fixed.account === account.name).map(({ key }) => key),
  }
}

/** undefined for a message whose bytes are no longer kept. */
function ownMessage(
  { message_id, event_type, payment_id, body }: MessageRow,
  webhook: Pick<Webhook, 'signing_key' | 'callback_url' | 'description'>,
  reading: Reading,
): OwnMessage | undefined {
  if (body === null || isGone(payment_id, reading)) return undefined
  const { signing_key } = webhook
  const name = webhookTitle(webhook)
  return { message_id, event_type, body: Buffer.from(body), signing_key, webhook: name }
}

const intro = ui.paragraph(
  'Pick the message, and enter what your code computed. The common mistakes with the body, the key and the signature are tried, and the nearest is named. Nothing of what you enter is kept.',
)

type Visit = PageVisit<typeof filters>

function formPart(visit: Visit, typed: Typed | undefined, candidates: Candidates): Html {
  const { messages, message } = candidates
  const isListed = messages.some(({ message_id }) => message_id === message?.message_id)
  const options = message && !isListed ? [message, ...messages] : messages
  const more = ['header', 'key', 'file', 'base64', 'text'] as const
  return html`<form method="post" action="${visit.root}signature" enctype="multipart/form-data">
${select({
  ...typedIn(typed, 'message', visit.values.message),
  label: 'Message',
  ...(options.length === 0 && {
    hint: 'There is none yet: enter the header, the key and the body below',
  }),
  options: [
    ['', 'None'],
    ...options.map(
      ({ message_id, event_type, webhook }) =>
        [message_id, `${event_type} ${message_id} to ${webhook}`] as const,
    ),
  ],
})}
${message && rightValues(visit, message)}
${input({
  ...typedIn(typed, 'computed'),
  label: 'What your code computed',
  hint: 'The signature that your code compared with the header.',
  autocomplete: 'off',
})}
${details('I have more: the header, the key or the body', moreFields(typed), {
  id: 'more',
  open: options.length === 0 || more.some(name => typed?.errors[name] || typed?.form.get(name)),
})}
${button({ id: 'analyse', text: 'Compare' })}
</form>`
}

const rightValues = ({ root }: AccountVisit, message: OwnMessage): Html =>
  summaryList([
    {
      id: 'right-signature',
      key: 'Right signature',
      value: ui.code(signatureOf(message.body, message.signing_key)),
    },
    { id: 'key-of', key: 'Signing key', value: html`that of ${ui.untrusted(message.webhook)}` },
    {
      id: 'about',
      key: 'Message',
      value: ui.link(`${root}messages/${message.message_id}`, message.message_id),
    },
  ])

const moreFields = (typed: Typed | undefined): Html => html`${ui.paragraph(
  'What you leave empty is taken from the message.',
)}
${input({
  ...typedIn(typed, 'header'),
  label: 'Pay-Signature',
  hint: 'The value of the header, as your code got it.',
  autocomplete: 'off',
})}
${input({
  name: 'key',
  label: 'Signing key',
  hint: 'As your code has it, with any quotes or spaces. It is not shown again.',
  autocomplete: 'off',
  error: typed?.errors.key,
})}
<fieldset class="govuk-fieldset">
<legend class="govuk-fieldset__legend govuk-fieldset__legend--s">The body whose signature your code checked</legend>
${fileUpload({ name: 'file', label: 'As a file', hint: 'Best: its bytes arrive as they are.', error: typed?.errors.file })}
${textarea({ ...typedIn(typed, 'base64'), label: 'In base64', rows: 2 })}
${textarea({
  ...typedIn(typed, 'text'),
  label: 'As text',
  hint: 'A browser turns each LF into CRLF on its way, so both are tried.',
  rows: 6,
})}
</fieldset>`

const verdictTags: Record<Analysis['verdict'], Html> = {
  match: tag('Match', 'green'),
  'no-mistake': tag('No mistake found', 'grey'),
  mismatch: tag('No match', 'red'),
}

function result({ root }: AccountVisit, analysis: Analysis): Html {
  const { verdict, sentence, advice, difference, messages = [], keyToCompare } = analysis
  return html`<div id="result">
<p>${verdictTags[verdict]}</p>
<p class="govuk-body-l">${ui.untrusted(sentence)}</p>
${keyToCompare && keyPart(keyToCompare)}
${difference && differencePart(difference)}
${messages.length > 0 && ui.paragraph(html`The header is the signature of ${ui.joined(messages.map(id => ui.link(`${root}messages/${id}`, id)))}.`)}
${advicePart(advice)}
</div>
<h2 class="govuk-heading-m">Compare again</h2>`
}

const differencePart = ({ offset, sent, given }: Difference): Html =>
  ui.wideTable(Object.entries({ Sent: sent, Given: given }), {
    caption: `The first byte that differs is byte ${inDigits(offset)}, counted from 0`,
    showsCaption: true,
    columns: {
      Body: ([name]) => name,
      'Bytes around it': ([, { hex }]) => ui.code(hex),
      'As text': ([, { text }]) => ui.code(ui.untrusted(text)),
    },
  })

/** The changes that a receiver needs, with the calls of frameworks that give the bytes. */
export const advicePart = (advice: readonly Advice[]): Html =>
  html`${advice.map(
    ({ text, calls = [] }) => html`${ui.paragraph(asTypedHere(text))}
${
  calls.length > 0 &&
  ui.wideTable(calls, {
    caption: 'The call that gives the bytes, by framework',
    columns: { Framework: ({ framework }) => framework, Call: ({ call }) => ui.code(call) },
  })
}`,
  )}`

/** The signing key of a webhook, behind a line to open. */
export const keyPart = ({ webhook, signing_key }: { webhook: string; signing_key: string }): Html =>
  details(
    'Show the signing key',
    ui.paragraph(html`Of ${ui.untrusted(webhook)}: ${ui.code(signing_key)}`),
    {
      id: 'signing-key',
    },
  )
