/** Sending a message again by hand: the forms on its page. The command `resend` and POST /control/messages can do more. */

import { button } from '../../../platform/web/components.ts'
import { select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { type Damage, damages, type SendAgain } from '../../deliver/send-again.ts'
import type { AccountVisit } from '../frame/page.ts'
import { paragraph, postForm } from '../frame/parts.ts'
import { damageNames } from './message-attempts.ts'

/** The form with the damage has this field; without it the message is sent as it is. */
const DAMAGE = 'damage'

/** What a form asks for; undefined for a damage that there is not. */
export function readSend(form: URLSearchParams): SendAgain | undefined {
  const asked = form.get(DAMAGE)
  const damage = damages.find(known => known === asked)
  if (asked !== null && !damage) return undefined
  return { times: 1, atOnce: false, newIdentifier: false, damage }
}

/** `action` is the address of the forms. */
export function sendForms({ account }: AccountVisit, action: string): Html {
  const damage = html`${select({
    name: DAMAGE,
    label: 'Damage',
    options: damages.map(value => ({ value, text: sentence(damageNames[value]) })),
    value: 'digit' satisfies Damage,
  })}
${button({ id: 'send-damaged', text: 'Send it damaged', secondary: true })}`
  return html`${postForm(account, action, button({ id: 'send-again', text: 'Send again' }))}
${postForm(account, action, damage, 'farthing-filter')}
${paragraph(
  'Your receiver must refuse a damaged message. None of this counts as an attempt: the status, the history and the payment stay as they are.',
)}`
}

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)
