/** How a card is submitted: on the hosted pages or to POST /v1/auth. */
import { messages } from '../../src/hosted/pages.ts'
import {
  answer,
  type Expected,
  isGone,
  NO_TOKEN,
  type Request,
  refusal,
  type Step,
  type World,
} from './model.ts'
import { authorised, type Card, isOpen, move, type Payment, statusOf } from './model-payments.ts'

const brands: [RegExp, string][] = [
  [/^4/, 'Visa'],
  [/^(5[1-5]|2[2-7])/, 'Mastercard'],
  [/^3[47]/, 'American Express'],
  [/^6011/, 'Discover'],
  [/^35/, 'Jcb'],
  [/^3[068]/, 'Diners Club'],
  [/^62/, 'Union Pay'],
]

const cardOf = (number: string, cardholder_name: string, expiry_date: string): Card => ({
  first_digits_card_number: number.slice(0, 6),
  last_digits_card_number: number.slice(-4),
  cardholder_name,
  expiry_date,
  card_brand: brands.find(([digits]) => digits.test(number))?.[1],
  card_type: 'credit',
})

/** The card that stands for the one that a user would type in. */
function mockCard({ prefilled, created }: Payment): Card {
  const year = String(new Date(created).getUTCFullYear() + 3).slice(2)
  const name = prefilled?.cardholder_name ?? 'Demo Cardholder'
  const sample = { line1: '1 Sample Street', postcode: 'ZZ1 1ZZ', city: 'Sampleton', country: 'GB' }
  return {
    ...cardOf('4242424242424242', name, `12/${year}`),
    billing_address: prefilled?.billing_address ?? sample,
  }
}

export type CardFault = { patch: Record<string, unknown>; status: 422; code: string; field: string }

/** In the order in which one request with all of them would be answered. */
export const cardFaults: CardFault[] = [
  { patch: { card_number: 4242 }, status: 422, code: 'P0102', field: 'card_number' },
  { patch: { cardholder_name: ' ' }, status: 422, code: 'P0101', field: 'cardholder_name' },
  { patch: { cvc: null }, status: 422, code: 'P0101', field: 'cvc' },
  { patch: { card_number: '4242 4242 4242' }, status: 422, code: 'P0102', field: 'card_number' },
  { patch: { cvc: '12' }, status: 422, code: 'P0102', field: 'cvc' },
  { patch: { expiry_date: '13/30' }, status: 422, code: 'P0102', field: 'expiry_date' },
]

/** POST /v1/auth, with the token of any payment. */
export function authorise(
  world: World,
  payment: Payment | undefined,
  number: string,
  as: 'json' | 'form',
  fault: CardFault | undefined,
): Step {
  const json = {
    one_time_token: payment && payment.mode !== 'agreement' ? payment.token : NO_TOKEN,
    card_number: number,
    cardholder_name: 'A Caller',
    cvc: '123',
    expiry_date: '04/31',
    ...fault?.patch,
  }
  const asForm = as === 'form' && !fault
  const request: Request = {
    method: 'POST',
    path: '/v1/auth',
    ...(asForm ? { form: Object.entries(json).map(([name, v]) => [name, String(v)]) } : { json }),
  }
  return { request, expected: authorisation(world, payment, number, fault) }
}

function authorisation(
  world: World,
  payment: Payment | undefined,
  number: string,
  fault: CardFault | undefined,
): Expected {
  if (fault) return refusal(fault.status, fault.code, { field: fault.field })
  if (payment?.mode !== 'moto_api' || isGone(world, payment)) return refusal(400, 'P1211')
  if (payment.card) return refusal(400, 'P1212')
  if (statusOf(payment) !== 'created') return refusal(400, 'P1211')
  payment.card = cardOf(number, 'A Caller', '04/31')
  if (number === '4000000000000002') {
    move(world, payment, ['started', 'failed'], 'P0010')
    return refusal(402, 'P0010')
  }
  move(world, payment, ['started', 'submitted', authorised(payment)])
  return answer(204)
}

export type Choice = 'success' | 'declined' | 'error' | 'cancel'

export type Visit = {
  /** By the token in the path, or in the form of POST /secure. */
  by: 'path' | 'form'
  action: 'open' | 'look' | 'choose' | 'review' | 'confirm'
  /** The `scenario` fields of the form. */
  scenarios: string[]
  /** Sec-Fetch-Site, where a browser says it. */
  site?: string | undefined
}

/** One request to the pages of a payment, SPEC *Hosted payment pages*. `look` is HEAD, `review` GET .../confirm. */
export function visit(world: World, payment: Payment | undefined, wanted: Visit): Step {
  const request = visitRequest(payment, wanted)
  const found = payment?.mode === 'web' && !isGone(world, payment) ? payment : undefined
  return { request, expected: visited(world, found, wanted, request) }
}

function visitRequest(
  payment: Payment | undefined,
  { by, action, scenarios, site }: Visit,
): Request {
  const token = payment && payment.mode !== 'agreement' ? payment.token : NO_TOKEN
  const headers = site === undefined ? {} : { 'Sec-Fetch-Site': site }
  const form = scenarios.map((text): [string, string] => ['scenario', text])
  const suffix = action === 'confirm' || action === 'review' ? '/confirm' : ''
  const path = `/secure/${token}${suffix}`
  if (action === 'look') return { method: 'HEAD', path }
  if (action === 'review') return { method: 'GET', path, headers }
  if (by === 'path')
    return action === 'open'
      ? { method: 'GET', path, headers }
      : { method: 'POST', path, headers, form }
  const step: [string, string][] =
    action === 'open' ? [] : [['step', action === 'choose' ? 'details' : 'confirm']]
  return {
    method: 'POST',
    path: '/secure',
    headers,
    form: [['chargeTokenId', token], ...step, ...(action === 'open' ? [] : form)],
  }
}

function visited(
  world: World,
  payment: Payment | undefined,
  { by, action, scenarios, site }: Visit,
  { method }: Request,
): Expected {
  const isStep = method === 'POST' && action !== 'open'
  if (isStep && site === 'cross-site') return faultPage(403, 'otherSite')
  if (!payment) return faultPage(404, 'notFound')
  if (!isOpen(payment)) return to(payment.return_url ?? '')
  const hidden = by === 'form'
  const details = (status = 200) => page(status, payment, 'details', hidden)
  const goTo = (suffix: string) => to(`/secure/${payment.token}${suffix}`)
  switch (action) {
    case 'look':
      return { status: 200 }
    case 'open':
      if (statusOf(payment) === 'created') move(world, payment, ['started'])
      return details()
    case 'review':
      return payment.chosen ? page(200, payment, 'confirm', false) : goTo('')
    case 'choose': {
      const [scenario, ...more] = scenarios
      if (more.length > 0 || !isChoice(scenario)) return details(400)
      if (scenario !== 'success') return end(world, payment, scenario)
      if (statusOf(payment) === 'created') move(world, payment, ['started'])
      payment.chosen = true
      return hidden ? page(200, payment, 'confirm', true) : goTo('/confirm')
    }
    case 'confirm':
      if (scenarios.includes('cancel')) return end(world, payment, 'cancel')
      if (!payment.chosen) return hidden ? details() : goTo('')
      payment.card = mockCard(payment)
      move(world, payment, ['submitted', authorised(payment)])
      return to(payment.return_url ?? '')
  }
}

const isChoice = (text: string | undefined): text is Choice =>
  ['success', 'declined', 'error', 'cancel'].includes(text ?? '')

/** The user ends the payment, on a page that leads back. */
function end(world: World, payment: Payment, choice: Exclude<Choice, 'success'>): Expected {
  if (choice === 'cancel') {
    move(world, payment, ['failed'], 'P0030')
    return page(200, payment, 'cancelled', false)
  }
  if (statusOf(payment) === 'created') payment.events.push({ status: 'started', at: world.now })
  payment.card = mockCard(payment)
  move(
    world,
    payment,
    [choice === 'error' ? 'error' : 'failed'],
    choice === 'error' ? 'P0050' : 'P0010',
  )
  return page(200, payment, choice === 'error' ? 'technical' : 'declined', false)
}

const to = (location: string): Expected => ({ status: 303, headers: { location } })

type Kind = 'details' | 'confirm' | 'cancelled' | 'declined' | 'technical'

/** A page says what it is about and where it leads; with `hidden`, its forms keep the token out of addresses. */
function page(status: number, payment: Payment, kind: Kind, hidden: boolean): Expected {
  const { heading } = messages[payment.language][kind]
  const isForm = kind === 'details' || kind === 'confirm'
  const path = `/secure/${payment.token}${kind === 'confirm' ? '/confirm' : ''}`
  const holds = !isForm
    ? [`href="${payment.return_url}"`]
    : hidden
      ? ['action="/secure"', `name="chargeTokenId" value="${payment.token}"`]
      : [`action="${path}"`]
  return { status, page: { heading, holds } }
}

const faultPage = (status: number, kind: 'notFound' | 'otherSite'): Expected => ({
  status,
  page: { heading: messages.en[kind].heading, holds: [] },
})
