/** Making an agreement on a page, with the rules of the API, and the payments that set it up and charge it. */

import { penceIn } from '../../../core/money.ts'
import { createAgreement } from '../../../pay/agreements/commands.ts'
import { readNewAgreement } from '../../../pay/agreements/wire.ts'
import { formBody } from '../../../platform/http/body.ts'
import { button } from '../../../platform/web/components.ts'
import { input } from '../../../platform/web/form-components.ts'
import { html } from '../../../platform/web/html.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { submit, type Typed, textIn, typedIn } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import type { Next } from '../frame/page.ts'
import { backAddress, readyMade, submitPayment } from '../payments/new.ts'

const fields = {
  reference: { label: 'Reference', right: { reference: 'R' } },
  description: { label: 'Description', right: { description: 'D' } },
}

export const newAgreement = definePage({
  path: 'agreements/new',
  title: 'Make an agreement',
  makes: true,
  narrow: true,
  show: (visit, _, typed?: Typed) =>
    actionForm(
      visit,
      'agree',
      html`${Object.entries(fields).map(([name, { label }]) => input({ ...typedIn(typed, name), label }))}
${button({ id: 'make-agreement', text: 'Make the agreement' })}`,
    ),
  actions: { agree: { run: agree } },
})

async function agree({ context, request, account }: PageVisit): Promise<Next | Typed> {
  const form = formBody(request)
  const body = Object.fromEntries(Object.keys(fields).map(name => [name, textIn(form, name)]))
  return submit(form, { fields, body, read: readNewAgreement }, async agreement => {
    const { agreement_id } = await createAgreement(context, account, agreement)
    return { to: `agreements/${agreement_id}`, done: { code: 'agreed' } }
  })
}

const named = { reference: 'CONSOLE-AGREEMENT', description: 'A payment made in the console' }

/** A paid payment whose card is stored in the agreement. */
export function setUp(visit: PageVisit): Promise<Next | Typed> {
  const fields = { set_up_agreement: visit.id, return_url: backAddress(visit) }
  return submitPayment(visit, { amount: 1450, ...named, ...fields }, readyMade.paid)
}

/** A payment with the card that is stored in the agreement. */
export function charge(visit: PageVisit): Promise<Next | Typed> {
  const amount = penceIn(formBody(visit.request).get('amount') ?? '')
  const fields = { agreement_id: visit.id, authorisation_mode: 'agreement' }
  return submitPayment(visit, { amount, ...named, ...fields })
}
