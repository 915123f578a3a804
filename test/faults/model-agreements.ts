/** Agreements: SPEC *Agreement*. */
import {
  type Account,
  answer,
  iso,
  NO_ID,
  newNumber,
  refusal,
  type Step,
  type World,
} from './model.ts'
import type { Card, Payment } from './model-payments.ts'
import { type PageQuery, searchPage } from './model-search.ts'

export type Agreement = {
  name: string
  account: Account
  created: number
  reference: string
  description: string
  user_identifier?: string | undefined
  status: 'created' | 'active' | 'cancelled'
  cancelled?: number | undefined
  instrument?: { at: number; card: Card }
}

function shownAgreement(agreement: Agreement) {
  const { instrument, cancelled } = agreement
  return {
    agreement_id: agreement.name,
    reference: agreement.reference,
    description: agreement.description,
    user_identifier: agreement.user_identifier,
    status: agreement.status,
    created_date: iso(agreement.created),
    cancelled_date: cancelled === undefined ? undefined : iso(cancelled),
    payment_instrument: instrument && {
      type: 'card',
      created_date: iso(instrument.at),
      CardDetails: instrument.card,
      card_details: instrument.card,
    },
  }
}

/** A payment that sets it up was authorised: whatever its status was, it is active now. */
export function makeActive(world: World, agreement: Agreement, { card }: Payment): void {
  agreement.status = 'active'
  agreement.cancelled = undefined
  if (card) agreement.instrument = { at: world.now, card }
}

export type NewAgreement = {
  reference: string
  description: string
  user_identifier?: string | undefined
}

/** Bodies that are refused, and how. */
export const faultyAgreements: { json: object; status: number; code: string; field: string }[] = [
  { json: { description: 'x' }, status: 400, code: 'P2101', field: 'reference' },
  { json: { reference: 'x', description: ' ' }, status: 400, code: 'P2101', field: 'description' },
  { json: { reference: 'a<b', description: 'x' }, status: 400, code: 'P2102', field: 'reference' },
  { json: { reference: 7, description: 'x' }, status: 400, code: 'P2102', field: 'reference' },
  {
    json: { reference: 'x', description: 'x'.repeat(256) },
    status: 422,
    code: 'P0102',
    field: 'description',
  },
  {
    json: { reference: 'x', description: 'x', user_identifier: '' },
    status: 422,
    code: 'P0102',
    field: 'user_identifier',
  },
]

export function agree(world: World, account: Account, json: NewAgreement): Step {
  const agreement: Agreement = {
    name: `{agreement-${newNumber(world)}}`,
    account,
    created: world.now,
    ...json,
    status: 'created',
  }
  world.agreements.push(agreement)
  return {
    request: { method: 'POST', path: '/v1/agreements', account, json },
    expected: answer(201, shownAgreement(agreement)),
  }
}

export function agreeFaultily(account: Account, nth: number): Step {
  const fault = faultyAgreements[nth % faultyAgreements.length]
  if (!fault) throw new Error('there are faulty agreements')
  const { json, status, code, field } = fault
  return {
    request: { method: 'POST', path: '/v1/agreements', account, json },
    expected: refusal(status, code, { field }),
  }
}

const pathOf = (agreement: Agreement | undefined) => `/v1/agreements/${agreement?.name ?? NO_ID}`

export function readAgreement(account: Account, agreement: Agreement | undefined): Step {
  const request = { method: 'GET', path: pathOf(agreement), account } as const
  const known = agreement?.account === account
  return {
    request,
    expected: known ? answer(200, shownAgreement(agreement)) : refusal(404, 'P2200'),
  }
}

export function cancelAgreement(
  world: World,
  account: Account,
  agreement: Agreement | undefined,
): Step {
  const request = { method: 'POST', path: `${pathOf(agreement)}/cancel`, account } as const
  if (agreement?.account !== account) return { request, expected: refusal(404, 'P2500') }
  if (agreement.status === 'cancelled') return { request, expected: refusal(400, 'P2501') }
  agreement.status = 'cancelled'
  agreement.cancelled = world.now
  return { request, expected: answer(204) }
}

export type AgreementQuery = PageQuery & {
  status?: string | undefined
  reference?: string | undefined
}

export function searchAgreements(world: World, account: Account, query: AgreementQuery): Step {
  const { status, reference } = query
  const statuses = ['created', 'active', 'cancelled', 'inactive']
  const found = world.agreements
    .filter(agreement => agreement.account === account)
    .filter(agreement => !status?.trim() || agreement.status === status)
    .filter(
      agreement =>
        !reference?.trim() || agreement.reference.toLowerCase() === reference.toLowerCase(),
    )
    .map(shownAgreement)
  return searchPage({
    path: '/v1/agreements',
    codes: ['P2401', 'P2402'],
    account,
    query,
    filters: [
      ['status', status],
      ['reference', reference],
    ],
    wrong: Boolean(status?.trim()) && !statuses.includes(status ?? ''),
    found,
  })
}
