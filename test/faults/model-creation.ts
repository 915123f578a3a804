/** POST /v1/payments: valid bodies of each mode, and bodies with one fault. */
import {
  type Account,
  answer,
  isGone,
  NO_ID,
  newNumber,
  type Request,
  refusal,
  type Step,
  type World,
} from './model.ts'
import type { Agreement } from './model-agreements.ts'
import { type Address, authorised, move, type Payment, shown } from './model-payments.ts'

export type Mode = Payment['mode']

export type NewPayment = {
  mode: Mode
  amount: number
  reference: string
  description: string
  language?: 'en' | 'cy' | undefined
  delayed?: boolean | undefined
  moto?: boolean | undefined
  email?: string | undefined
  metadata?: object | undefined
  prefilled?: Prefilled | undefined
  /** That it uses in agreement mode; in web mode, to be set up by it; `unknown` is nobody's. */
  agreement?: Agreement | 'unknown' | undefined
  type?: string | undefined
  idempotencyKey?: string | undefined
}

export type Prefilled = {
  cardholder_name?: string | null
  billing_address?: Record<string, string> | null
}

/** Something wrong in a body that is otherwise right, and the answer to it. */
export type Fault = {
  /** Laid over the body; undefined takes a field away. */
  patch: Record<string, unknown>
  modes?: Mode[]
  /** Only while the body sets up no agreement. */
  alone?: boolean
  status: 400 | 422
  code: string
  field: string
}

const url = 'https://shops.example.org/paid'
export const faults: Fault[] = [
  { patch: { amount: undefined }, status: 400, code: 'P0101', field: 'amount' },
  { patch: { amount: null }, status: 400, code: 'P0101', field: 'amount' },
  { patch: { amount: '10' }, status: 400, code: 'P0102', field: 'amount' },
  { patch: { amount: 10.5 }, status: 400, code: 'P0102', field: 'amount' },
  { patch: { amount: -1 }, status: 422, code: 'P0102', field: 'amount' },
  { patch: { amount: 10_000_001 }, status: 422, code: 'P0102', field: 'amount' },
  { patch: { reference: ' ' }, status: 400, code: 'P0101', field: 'reference' },
  { patch: { reference: 'a|b' }, status: 400, code: 'P0102', field: 'reference' },
  { patch: { description: 'x'.repeat(256) }, status: 422, code: 'P0102', field: 'description' },
  { patch: { language: 'fr' }, status: 422, code: 'P0102', field: 'language' },
  { patch: { moto: null }, status: 400, code: 'P0102', field: 'moto' },
  { patch: { email: 'x'.repeat(255) }, status: 422, code: 'P0102', field: 'email' },
  { patch: { metadata: { a: null } }, status: 422, code: 'P0102', field: 'metadata' },
  { patch: { metadata: { a: 1, A: 2 } }, status: 422, code: 'P0102', field: 'metadata' },
  { patch: { description: 'a\0b' }, status: 422, code: 'P0102', field: 'description' },
  {
    patch: { authorisation_mode: 'external' },
    status: 422,
    code: 'P0102',
    field: 'authorisation_mode',
  },
  {
    patch: { return_url: undefined },
    modes: ['web'],
    status: 400,
    code: 'P0101',
    field: 'return_url',
  },
  {
    patch: { return_url: 'http://a.b' },
    modes: ['web'],
    status: 422,
    code: 'P0102',
    field: 'return_url',
  },
  {
    patch: { agreement_id: null },
    modes: ['web', 'moto_api'],
    status: 400,
    code: 'P0104',
    field: 'agreement_id',
  },
  {
    patch: { agreement_payment_type: 'recurring' },
    modes: ['web', 'moto_api'],
    alone: true,
    status: 400,
    code: 'P0104',
    field: 'agreement_payment_type',
  },
  {
    patch: { return_url: url },
    modes: ['moto_api', 'agreement'],
    status: 400,
    code: 'P0104',
    field: 'return_url',
  },
  {
    patch: { set_up_agreement: NO_ID },
    modes: ['moto_api'],
    status: 400,
    code: 'P0104',
    field: 'set_up_agreement',
  },
  { patch: { moto: true }, modes: ['agreement'], status: 400, code: 'P0104', field: 'moto' },
  {
    patch: { email: 'a@b.example' },
    modes: ['agreement'],
    status: 400,
    code: 'P0104',
    field: 'email',
  },
]

/** Makes a payment, or does not because of `fault`, the agreement or the idempotency key. */
export function create(
  world: World,
  account: Account,
  wanted: NewPayment,
  fault?: Fault | undefined,
): Step {
  const { mode, agreement, idempotencyKey } = wanted
  const request = requestOf(account, wanted, fault)
  const refuse = (status: number, code: string, at: { field?: string; header?: string }) => ({
    request,
    expected: refusal(status, code, at),
  })
  if (fault) return refuse(fault.status, fault.code, { field: fault.field })
  const usable = typeof agreement === 'object' && agreement.account === account
  if (mode === 'web' && agreement && !usable)
    return refuse(400, 'P0103', { field: 'set_up_agreement' })
  if (mode === 'agreement' && !(usable && agreement.status === 'active'))
    return refuse(400, 'P0102', { field: 'agreement_id' })
  const key = idempotencyKey === undefined ? undefined : `${account} ${idempotencyKey}`
  const before = key === undefined ? undefined : world.keys.get(key)
  if (before && !isGone(world, before)) return refuse(409, 'P0191', { header: 'Idempotency-Key' })
  const payment = newPayment(world, account, wanted, usable ? agreement : undefined)
  world.payments.push(payment)
  if (key !== undefined) world.keys.set(key, payment)
  if (mode === 'agreement') {
    if (usable && agreement.instrument) payment.card = agreement.instrument.card
    move(world, payment, ['started', 'submitted', authorised(payment)])
  }
  const headers = { location: `http://farthing.test/v1/payments/${payment.name}` }
  return { request, expected: answer(201, shown(payment), headers) }
}

function requestOf(account: Account, wanted: NewPayment, fault: Fault | undefined): Request {
  const { mode, delayed, prefilled, agreement, type, idempotencyKey, ...plain } = wanted
  const agreement_id = typeof agreement === 'object' ? agreement.name : NO_ID
  const json = {
    ...plain,
    delayed_capture: delayed,
    ...(mode === 'web' ? { return_url: url } : { authorisation_mode: mode }),
    ...(mode === 'web' && agreement && { set_up_agreement: agreement_id }),
    ...(mode === 'agreement' && { agreement_id }),
    ...(agreement && { agreement_payment_type: type }),
    ...(prefilled !== undefined && { prefilled_cardholder_details: prefilled }),
    ...fault?.patch,
  }
  return {
    method: 'POST',
    path: '/v1/payments',
    account,
    json,
    ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }),
  }
}

function newPayment(
  world: World,
  account: Account,
  wanted: NewPayment,
  agreement: Agreement | undefined,
): Payment {
  const { mode, amount, reference, description, language, delayed, moto, type } = wanted
  const number = newNumber(world)
  return {
    name: `{payment-${number}}`,
    token: `{token-${number}}`,
    provider: `{provider-${number}}`,
    account,
    created: world.now,
    mode,
    amount,
    reference,
    description,
    language: language ?? 'en',
    delayed: delayed ?? false,
    moto: moto ?? false,
    return_url: mode === 'web' ? url : undefined,
    email: wanted.email?.trim() ? wanted.email : undefined,
    metadata: wanted.metadata,
    prefilled: usablePart(wanted.prefilled),
    agreement_payment_type: agreement && (type ?? 'recurring'),
    agreement,
    events: [{ status: 'created', at: world.now }],
    chosen: false,
    refunds: [],
  }
}

/** Null and blank parts are as if not given, and so is a country that is not two letters. */
function usablePart(prefilled: Prefilled | undefined): Payment['prefilled'] {
  const name = prefilled?.cardholder_name?.trim() ? prefilled.cardholder_name : undefined
  const parts = Object.entries(prefilled?.billing_address ?? {}).filter(
    ([part, text]) => text.trim() && (part !== 'country' || /^[A-Za-z]{2}$/.test(text)),
  )
  const address: Address | undefined = parts.length > 0 ? Object.fromEntries(parts) : undefined
  if (name === undefined && !address) return undefined
  return { ...(name && { cardholder_name: name }), ...(address && { billing_address: address }) }
}
