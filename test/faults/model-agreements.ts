/** Agreements: Specification, *Agreement*. */
import { type Account, iso, NO_ID, newNumber, refusal, type Step, type World } from './model.ts'

export type Agreement = {
  name: string
  account: Account
  created: number
  status: 'created' | 'active' | 'cancelled'
  cancelled?: number
  /** When its payment instrument was stored. */
  instrument?: number
}

const shownAgreement = ({ name, created, status, cancelled, instrument }: Agreement) => ({
  agreement_id: name,
  status,
  created_date: iso(created),
  cancelled_date: cancelled === undefined ? undefined : iso(cancelled),
  payment_instrument: instrument === undefined ? undefined : { created_date: iso(instrument) },
})

/** A payment that sets it up was authorised. A cancelled agreement stays as it is. */
export function makeActive(world: World, agreement: Agreement): void {
  if (agreement.status === 'cancelled') return
  agreement.status = 'active'
  agreement.instrument = world.now
}

export function agree(world: World, account: Account): Step {
  const agreement: Agreement = {
    name: `{agreement-${newNumber(world)}}`,
    account,
    created: world.now,
    status: 'created',
  }
  world.agreements.push(agreement)
  const json = { reference: 'PLAN-1', description: 'Monthly' }
  return {
    request: { method: 'POST', path: '/v1/agreements', account, json },
    expected: { status: 201, body: shownAgreement(agreement) },
  }
}

const agreementPath = (agreement: Agreement | undefined) =>
  `/v1/agreements/${agreement?.name ?? NO_ID}`

export function readAgreement(account: Account, agreement: Agreement | undefined): Step {
  const request = { method: 'GET', path: agreementPath(agreement), account } as const
  if (agreement?.account !== account) return { request, expected: refusal(404, 'P2200') }
  return { request, expected: { status: 200, body: shownAgreement(agreement) } }
}

export function cancelAgreement(world: World, account: Account, agreement: Agreement | undefined) {
  const request = { method: 'POST', path: `${agreementPath(agreement)}/cancel`, account } as const
  if (agreement?.account !== account) return { request, expected: refusal(404, 'P2500') }
  if (agreement.status === 'cancelled') return { request, expected: refusal(400, 'P2501') }
  agreement.status = 'cancelled'
  agreement.cancelled = world.now
  return { request, expected: { status: 204 } }
}
