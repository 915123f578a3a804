/** Invariants of agreements and of the payments that set them up or use them. */
import { isDeepStrictEqual } from 'node:util'
import { timeOf } from '../../src/core/ids.ts'
import { type AgreementRow, arrival, type PaymentRow, type Rows } from './rows.ts'

export function agreementProblems({ agreements, payments, since, kept }: Rows): string[] {
  const known = new Map(agreements.map(agreement => [agreement.agreement_id, agreement]))
  const settingUp = Map.groupBy(payments, payment => payment.body.given.set_up_agreement ?? '')
  return [
    ...agreements.flatMap(agreement =>
      statusProblems(agreement, settingUp.get(agreement.agreement_id) ?? [], kept),
    ),
    ...payments
      .filter(({ agreement_id }) => agreement_id !== null && timeOf(agreement_id) >= since)
      .flatMap(payment => useProblems(payment, known.get(payment.agreement_id ?? ''))),
  ]
}

/** I9: only a completed set-up payment activates an agreement, and only a cancel ends it. */
function statusProblems(
  { agreement_id, status, body }: AgreementRow,
  payments: PaymentRow[],
  kept: string,
) {
  const { instrument, cancelled_at } = body
  const wrong = (what: string) => `I9 ${agreement_id}, ${status}: ${what}`
  const completed = payments.flatMap(payment => {
    const at = arrival(payment, 'success', 'capturable')
    return at === undefined ? [] : [{ at, card: payment.body.card }]
  })
  const latest = Math.max(-Infinity, ...completed.map(({ at }) => at))
  const problems = []
  if ((status === 'cancelled') !== (cancelled_at !== undefined))
    problems.push(wrong(`cancelled_at is ${cancelled_at}`))
  if (status === 'active' && !instrument) problems.push(wrong('no payment instrument'))
  if (status === 'created' && instrument) problems.push(wrong('has a payment instrument'))
  if (status !== 'cancelled' && latest > (instrument?.at ?? -Infinity))
    problems.push(wrong('a payment completed and left it as it was'))
  if (instrument && cancelled_at !== undefined && instrument.at > cancelled_at)
    problems.push(wrong('it was set up after it was cancelled'))
  // If several payments completed in one millisecond, any may be the source, also one that is gone.
  const sources = completed.filter(({ at }) => at === instrument?.at)
  const [source] = sources
  if (source && sources.length === 1 && agreement_id >= kept)
    if (!isDeepStrictEqual(source.card, instrument?.card))
      problems.push(wrong('its instrument is not the card of the payment that set it up'))
  return problems
}

/** I10: a payment uses an agreement that was active then, or sets up an agreement that exists. */
function useProblems(payment: PaymentRow, agreement: AgreementRow | undefined): string[] {
  const { payment_id, account, body } = payment
  const wrong = (what: string) => `I10 ${payment_id}: ${what}`
  if (agreement?.account !== account) return [wrong('its account has no such agreement')]
  const { instrument, cancelled_at } = agreement.body
  if (body.given.authorisation_mode !== 'agreement') return []
  if (!instrument) return [wrong('the agreement was never active')]
  const problems = []
  const made = timeOf(payment_id)
  if (instrument.at < made && !isDeepStrictEqual(body.card, instrument.card))
    problems.push(wrong("its card is not that of the agreement's instrument"))
  if (instrument.at < made && cancelled_at !== undefined && cancelled_at < made)
    problems.push(wrong('the agreement had been cancelled'))
  return problems
}
