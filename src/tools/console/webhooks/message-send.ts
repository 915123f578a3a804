/** Sending a message again by hand: the forms on its page, and what they do. */
import type { Account } from '../../../core/account.ts'
import type { Context } from '../../../pay/context.ts'
import {
  damages,
  MOST_TIMES,
  type Resendable,
  type SendAgain,
} from '../../../pay/webhooks/send-again.ts'
import { isStorable } from '../../../platform/http/fields.ts'
import { registrationProblem } from '../../../platform/outbound/address.ts'
import { button, details } from '../../../platform/web/components.ts'
import { checkbox, input, select, textarea } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { ACCOUNT_FIELD, hidden, paragraph, postForm } from '../frame/parts.ts'
import { damageNames } from './message-attempts.ts'

/** What was typed, and the faults in it by field. */
export type Edit = { form: URLSearchParams; faults: Record<string, string> }

/** What a form asks for, or its faults. An empty form sends the message as it is. */
export async function readSend(
  { config, resolve }: Context,
  message: Resendable,
  form: URLSearchParams,
): Promise<SendAgain | Edit> {
  const faults: Record<string, string> = {}
  const text = (name: string) => form.get(name)?.trim() || undefined
  // In the order of the fields.
  const body = typedBody(form, message)
  if (body !== undefined && !body.isWellFormed()) faults.body = 'Enter text'
  const to = text('to')
  const problem = to !== undefined && (await registrationProblem(to, config.callbackHosts, resolve))
  if (problem) faults.to = `The address ${problem}`
  const damage = damages.find(known => known === form.get('damage'))
  const signingKey = text('signing_key')
  if (signingKey !== undefined && !isStorable(signingKey)) faults.signing_key = 'Enter a key'
  const times = Number(text('times') ?? 1)
  if (!Number.isInteger(times) || times < 1 || times > MOST_TIMES)
    faults.times = `Enter a whole number from 1 to ${MOST_TIMES}`
  if (Object.keys(faults).length > 0) return { form, faults }
  return {
    times,
    body,
    damage,
    to,
    signingKey,
    atOnce: form.get('order') === 'at_once',
    newIdentifier: form.has('new_identifier'),
  }
}

/** Browsers turn each LF of a form into CRLF. undefined if the body is as it was. */
function typedBody(form: URLSearchParams, message: Resendable): string | undefined {
  const typed = form.get('body')?.replaceAll('\r\n', '\n')
  return typed === undefined || typed === message.body ? undefined : typed
}

/** `action` is the address of the forms. */
export const sendForm = (account: Account, action: string): Html =>
  postForm(account, action, button({ id: 'send-again', text: 'Send again' }))

export function editForm(
  account: Account,
  action: string,
  message: Resendable,
  edit: Edit | undefined,
): Html {
  const { form = new URLSearchParams(), faults = {} } = edit ?? {}
  const value = (name: string) => form.get(name) ?? ''
  const content = html`${paragraph(
    'A message that you send by hand does not count as an attempt. It does not change the status, the history or the payment.',
  )}
<form method="post" action="${action}">
${hidden(ACCOUNT_FIELD, account.name)}
${textarea({
  name: 'body',
  label: 'Body',
  hint: 'The signature is made anew over exactly these bytes. Lines end with LF.',
  value: form.get('body')?.replaceAll('\r\n', '\n') ?? message.body,
  rows: 8,
  error: faults.body,
})}
${checkbox({
  name: 'new_identifier',
  label: 'With a new webhook_message_id',
  hint: 'Without it a receiver may treat the message as a duplicate.',
  checked: form.has('new_identifier'),
})}
${select({
  name: 'damage',
  label: 'Damage',
  hint: 'A receiver must refuse a message that is damaged.',
  options: [
    { value: '', text: 'None' },
    ...damages.map(damage => ({ value: damage, text: sentence(damageNames[damage]) })),
  ],
  value: value('damage'),
})}
${input({
  name: 'to',
  label: 'Another address',
  hint: 'Instead of the callback URL of the webhook. The same rules apply to it.',
  value: value('to'),
  error: faults.to,
})}
${input({
  name: 'signing_key',
  label: 'Another signing key',
  hint: 'Instead of the signing key of the webhook.',
  autocomplete: 'off',
  error: faults.signing_key,
})}
${input({
  name: 'times',
  label: 'How many times',
  hint: `At most ${MOST_TIMES}.`,
  inputmode: 'numeric',
  width: 3,
  value: form.get('times') ?? '1',
  error: faults.times,
})}
${select({
  name: 'order',
  label: 'If several',
  options: [
    { value: 'in_turn', text: 'One after the other' },
    { value: 'at_once', text: 'All at once' },
  ],
  value: value('order'),
})}
${button({ id: 'edit-and-send', text: 'Send' })}
</form>`
  return details('Edit and send, damage, or send to another address', content, {
    id: 'edit',
    open: edit !== undefined,
  })
}

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)
