/**
 * What each step of a user's journey does and answers: SPEC *Hosted payment pages*. Every step answers
 * undefined when no web payment has the token, or it is gone.
 */
import { mockCardOf, type Payment } from '../payments/payment.ts'
import { isOver, type Journey, readScenario, type Scenario } from './journey.ts'
import { confirmPage, detailsPage, type Ending, endPage, type Form } from './pages.ts'
import type { PaymentSummary } from './summary.ts'

/** One request of a journey. */
export type Visit = {
  /** The path of the pages' public address, without a slash at its end. */
  basePath: string
  journey: Journey
  /** The token came in a form and must not show in an address: forms carry it on. */
  hidden: boolean
}

/** A page, or where the browser goes next. */
export type Answer = { status: 200 | 400; page: string } | { next: string }

const endings: Record<Exclude<Scenario, 'success'>, Ending> = {
  declined: 'declined',
  error: 'technical',
  cancel: 'cancelled',
}

/** `starts`: showing the page starts the payment. */
export async function showDetails(
  visit: Visit,
  { starts }: { starts: boolean },
): Promise<Answer | undefined> {
  const { journey } = visit
  const payment = starts ? (await journey.open())?.payment : await journey.find()
  return unlessOver(payment, payment => details(visit, payment))
}

/** Does what the form's one choice says; without one it shows the first page again, with an error. */
export async function choose(visit: Visit, form: URLSearchParams): Promise<Answer | undefined> {
  const scenario = readScenario(form)
  if (!scenario) {
    const payment = await visit.journey.find()
    return unlessOver(payment, payment => details(visit, payment, { error: true }))
  }
  if (scenario !== 'success') return end(visit, scenario)
  const outcome = await visit.journey.choose('success')
  return unlessOver(outcome?.payment, payment =>
    visit.hidden ? confirmation(visit, payment) : { next: `${pathOf(visit)}/confirm` },
  )
}

/** Goes back to the first page unless success was chosen. */
export async function showConfirm(visit: Visit): Promise<Answer | undefined> {
  return unlessOver(await visit.journey.find(), payment =>
    payment.success_chosen ? confirmation(visit, payment) : { next: pathOf(visit) },
  )
}

/** Cancels where the form says so, and confirms otherwise; goes back to the first page unless success was chosen. */
export async function confirm(visit: Visit, form: URLSearchParams): Promise<Answer | undefined> {
  if (form.getAll('scenario').includes('cancel')) return end(visit, 'cancel')
  const outcome = await visit.journey.confirm()
  return unlessOver(outcome?.payment, payment =>
    visit.hidden ? details(visit, payment) : { next: pathOf(visit) },
  )
}

/** Ends the journey on a page of ours, unless it was over already. */
async function end(
  { journey, basePath }: Visit,
  scenario: keyof typeof endings,
): Promise<Answer | undefined> {
  const outcome = await journey.choose(scenario)
  if (!outcome?.moved) return outcome && leave(outcome.payment)
  const { language, return_url = '' } = outcome.payment.given
  return { status: 200, page: endPage({ basePath }, endings[scenario], language, return_url) }
}

const unlessOver = (
  payment: Payment | undefined,
  answer: (payment: Payment) => Answer,
): Answer | undefined => payment && (isOver(payment) ? leave(payment) : answer(payment))

/** A web payment always has a return_url. */
const leave = ({ given }: Payment): Answer => ({ next: given.return_url ?? '' })

function details(visit: Visit, payment: Payment, { error } = { error: false }): Answer {
  const page = detailsPage(visit, summaryOf(payment), formTo(visit, 'details'), { error })
  return { status: error ? 400 : 200, page }
}

function confirmation(visit: Visit, payment: Payment): Answer {
  const summary = { ...summaryOf(payment), card: mockCardOf(payment) }
  return { status: 200, page: confirmPage(visit, summary, formTo(visit, 'confirm')) }
}

const summaryOf = ({ given }: Payment): PaymentSummary => ({ ...given, ...given.prefilled })

const pathOf = ({ basePath, journey }: Visit): string => `${basePath}/secure/${journey.token}`

function formTo(visit: Visit, step: 'details' | 'confirm'): Form {
  const { basePath, journey, hidden } = visit
  if (hidden)
    return { action: `${basePath}/secure`, hidden: { chargeTokenId: journey.token, step } }
  return { action: step === 'confirm' ? `${pathOf(visit)}/confirm` : pathOf(visit), hidden: {} }
}
