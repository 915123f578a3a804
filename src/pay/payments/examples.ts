/**
 * Example payments for /openapi.json. The functions that serve requests make them, so that each example
 * is what the service would return.
 */

import { secrets, timeOf } from '../../core/ids.ts'
import { exampleAddresses } from '../../platform/http/addresses.ts'
import type { Json } from '../../platform/http/fields.ts'
import { pathParameter } from '../../platform/http/openapi.ts'
import { created as agreement, instrumentCard } from '../agreements/examples.ts'
import { type CardDetails, DECLINED_CARD, submittedCard } from './card.ts'
import { makePayment } from './commands.ts'
import { advance, type Payment, refund, stateOf, type Trigger } from './payment.ts'
import { checkMode, readNewPayment } from './request.ts'
import { payment, presentEvents, presentFound, presentPayment } from './response.ts'

export const requests = {
  web: {
    amount: 8500,
    reference: 'BOAT-1187',
    description: 'Boat licence, 12 months',
    return_url: 'https://boats.example.org/licences/1187/paid',
    email: 'skipper@example.org',
    metadata: { boat: 'Heron', length_m: 9.5, renewal: true },
  },
  delayed: {
    amount: 30_000,
    reference: 'MOORING-52',
    description: 'Mooring deposit',
    return_url: 'https://boats.example.org/moorings/52/paid',
    delayed_capture: true,
    language: 'cy',
    prefilled_cardholder_details: { cardholder_name: 'Nia Prydderch' },
  },
  moto: {
    amount: 1200,
    reference: 'PLATE-77',
    description: 'Replacement name plate',
    authorisation_mode: 'moto_api',
  },
  setUp: {
    amount: 2500,
    reference: 'CLUB-31/11',
    description: 'Sailing club, November',
    return_url: 'https://club.example.org/members/31',
    set_up_agreement: agreement.agreement_id,
  },
  agreement: {
    amount: 2500,
    reference: 'CLUB-31/12',
    description: 'Sailing club, December',
    authorisation_mode: 'agreement',
    agreement_id: agreement.agreement_id,
  },
} satisfies Record<string, Json>

/** A body of POST /v1/auth. The token belongs to the payment of `requests.moto`. */
export const authorisation = {
  one_time_token: '06gq1n36bqetn38utov4dql5glgf47fe7lmtpse0bovb63ritbqp',
  card_number: '4242424242424242',
  cardholder_name: 'Ade Fenwick',
  cvc: '123',
  expiry_date: '08/30',
}

export const hostedToken = '06gq1c5v3bb47ajnkkpgtcun2hmbvvh7sddn610k7ha8ilo5tjsq'

function created(body: Json, token: string, provider_id: string): Payment {
  const given = readNewPayment(body)
  checkMode(given, new Set())
  const ids = { newId: () => token.slice(0, 26), secrets }
  const { after } = makePayment(ids, 'example', timeOf(token), given, undefined)
  return { ...after, provider_id, secret: token.slice(26) }
}

/** The time that a user spends on one page, in milliseconds. */
const ONE_PAGE = 47_118

/** The payment after these triggers, with `later` milliseconds between them. */
function afterTriggers(
  payment: Payment,
  triggers: Trigger[],
  card?: CardDetails,
  later = ONE_PAGE,
): Payment {
  return triggers.reduce((before, trigger) => {
    const at = stateOf(before).at + later
    const change = advance(before, trigger, at, card)
    if (!change) throw new Error(`an example cannot ${trigger}`)
    return change.after
  }, payment)
}

const web = created(requests.web, hostedToken, 'c597a046-a0f0-455a-81a3-73351a94c8ac')
const moto = created(
  requests.moto,
  authorisation.one_time_token,
  '279e60ef-1817-4952-b96a-ac620ab0d352',
)
const delayed = created(
  requests.delayed,
  '06gq2dcjvotbsjdr82e2celrnactm1r8e7q2hhujndkgs6eo4ceb',
  '6f0dd2c9-724d-4230-bf74-ac0abe8e2ace',
)
const byAgreement = created(
  requests.agreement,
  '06gqb4jg440s2q49qbasigqela29941t79ldi3diah65ni6pasnh',
  '5df12dba-9621-43ab-a412-8439e6976b52',
)

const confirmed = (payment: Payment): Payment =>
  afterTriggers(payment, ['open_page', 'choose_success', 'confirm'])

const paid = confirmed(web)
const capturable = confirmed(delayed)
const declinedCard = submittedCard(DECLINED_CARD, authorisation.cardholder_name, '08/30')
const declined = afterTriggers(moto, ['authorise_declined'], declinedCard)

export const payments = {
  created: presentPayment(web, exampleAddresses),
  createdMoto: presentPayment(moto, exampleAddresses),
  capturable: presentPayment(capturable, exampleAddresses),
  paid: presentPayment(paid, exampleAddresses),
  partlyRefunded: presentPayment(refund(paid, 1500, stateOf(paid).at).after, exampleAddresses),
  declined: presentPayment(declined, exampleAddresses),
  byAgreement: presentPayment(
    afterTriggers(byAgreement, ['use_agreement'], instrumentCard, 0),
    exampleAddresses,
  ),
  found: presentFound(capturable, exampleAddresses),
}

export const events = presentEvents(paid, exampleAddresses)

/** What webhook messages are about, for the documentation of webhooks. */
export const resource = { schema: payment, example: payments.paid }

export const paymentId = pathParameter(
  'payment_id',
  'A payment of the account from the last 7 days',
  payments.created.payment_id,
)
