/** Making an agreement on a page, with the rules of the API, and the payments that set it up and charge it. */

import { penceIn } from '../../../core/money.ts'
import { createAgreement } from '../../../pay/agreements/commands.ts'
import { readNewAgreement } from '../../../pay/agreements/wire.ts'
import { formBody } from '../../../platform/http/body.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { button } from '../../../platform/web/components.ts'
import { html } from '../../../platform/web/html.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { submit, type Typed, typedInput } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import type { Next } from '../frame/page.ts'
import { backAddress, makePayment, readFields } from '../payments/new.ts'
import { labels as paymentLabels, readyMade, sentences } from '../payments/new-form.ts'

const labels = { reference: 'Reference', description: 'Description' }
type Field = keyof typeof labels

const FIELDS = Object.keys(labels) as Field[] // its keys

export const newAgreement = definePage({
  path: 'agreements/new',
  title: 'Make an agreement',
  makes: true,
  narrow: true,
  show: (visit, _, typed?: Typed) =>
    actionForm(
      visit,
      'agree',
      html`${FIELDS.map(name => typedInput(typed, { name, label: labels[name] }))}
${button({ id: 'make-agreement', text: 'Make the agreement' })}`,
    ),
  actions: { agree: { run: agree } },
})

async function agree({ context, request, account }: PageVisit): Promise<Next | Typed> {
  const form = formBody(request)
  const body = Object.fromEntries(FIELDS.map(name => [name, form.get(name)?.trim() || undefined]))
  const rules = {
    body,
    read: readNewAgreement,
    labels,
    mended: (field: string) => ({ [field]: 'x' }),
  }
  return submit(form, rules, async fields => {
    const { agreement_id } = await createAgreement(context, account, fields)
    return { to: `agreements/${agreement_id}`, done: { code: 'agreed' } }
  })
}

/** A paid payment whose card is stored in the agreement. */
export const setUp = (visit: PageVisit): Promise<Next | Typed> =>
  pay(visit, '14.50', { set_up_agreement: visit.id, return_url: backAddress(visit) })

/** A payment with the card that is stored in the agreement. */
export const charge = (visit: PageVisit): Promise<Next | Typed> =>
  pay(visit, formBody(visit.request).get('amount') ?? '', {
    agreement_id: visit.id,
    authorisation_mode: 'agreement',
  })

function pay(visit: PageVisit, amount: string, fields: Json): Promise<Next | Typed> {
  const back = backAddress(visit)
  const named = { reference: 'CONSOLE-AGREEMENT', description: 'A payment made in the console' }
  const rules = {
    body: { amount: penceIn(amount), ...named, ...fields },
    read: (body: Json) => readFields(visit.context, body, back),
    labels: paymentLabels,
    sentences,
  }
  const ready = 'set_up_agreement' in fields ? readyMade.paid : undefined
  return submit(formBody(visit.request), rules, fields =>
    makePayment(visit, { fields, back, ready }),
  )
}
