/**
 * The user's journey through the hosted pages. Each step moves the payment and returns the page that comes
 * next (Specification, *Hosted payment pages*).
 */
import { findAgreement } from '../agreements/store.ts'
import { withCountry } from '../card.ts'
import type { Context } from '../context.ts'
import { plainHttp } from '../differences/creating.ts'
import { endedPage } from '../differences/pages.ts'
import { allows } from '../payments/advance.ts'
import { movePayment } from '../payments/commands.ts'
import { carryOut } from '../payments/complete.ts'
import { currentByToken } from '../payments/due-steps.ts'
import {
  behaviourOf,
  type Choice,
  choices,
  isPayable,
  mockCardOf,
  type Payment,
  statusOf,
} from '../payments/payment.ts'
import { choiceTriggers, planOf } from '../payments/scenario.ts'
import type { Trigger } from '../payments/transitions.ts'
import {
  confirmPage,
  detailsPage,
  endingOf,
  endPage,
  type Form,
  type ReturnLink,
  type Site,
} from './pages.ts'

/** A holder of a web payment's token. The token alone authorises every step. */
type TokenHolder = { context: Context; token: string }

export type JourneyStep = Site &
  TokenHolder & {
    /** The token came in a form. It must not appear in an address, so the next forms carry it. */
    byForm: boolean
  }

/** A page or a redirect. Undefined if no web payment has the token, or if it is gone. */
export type PageOrRedirect =
  | {
      status: 200 | 400
      page: string
      /** Whether the form of the page may lead to any http address. */
      toHttp?: boolean
    }
  | { location: string }
  | undefined

/** With `starts` a created payment becomes started. If a plan has set its scenario, that is carried out instead. */
export async function showDetails(visit: JourneyStep, { starts }: { starts: boolean }) {
  const payment = starts ? (await moveByToken(visit, 'open_page'))?.payment : await find(visit)
  const isPlanned = payment && planOf(visit.context, payment).scenario
  if (starts && isPlanned && isPayable(statusOf(payment))) return carryOutPlan(visit)
  return unlessOver(visit, payment, payment => nextPage(visit, payment))
}

/** Applies the chosen scenario. Without exactly one valid choice it shows the first page again, with an error. */
export async function choose(visit: JourneyStep, form: URLSearchParams): Promise<PageOrRedirect> {
  const [given, ...more] = form.getAll('scenario')
  const scenario = choices.find(choice => choice === given && more.length === 0)
  if (!scenario)
    return unlessOver(visit, await find(visit), payment => nextPage(visit, payment, true))
  if (scenario !== 'success') return end(visit, scenario)
  const result = await moveByToken(visit, choiceTriggers.success)
  return unlessOver(visit, result?.payment, payment => toConfirm(visit, payment))
}

/** Moves the payment as the forms would, and returns the page or redirect of the last form. */
async function carryOutPlan(visit: JourneyStep): Promise<PageOrRedirect> {
  const found = await findByPageToken(visit)
  if (!found) return undefined
  const { account, payment } = found
  const result = await carryOut(visit.context, account, payment, payment)
  if (!result?.moved || payment.scenario === 'success') return afterSuccess(visit, result)
  return endOf(visit, result.payment)
}

/** Shows the confirm page, or redirects to the first page if success was not chosen. */
export async function showConfirm(visit: JourneyStep): Promise<PageOrRedirect> {
  return unlessOver(visit, await find(visit), payment =>
    allows(payment, 'confirm') ? confirmation(visit, payment) : { location: pagePath(visit) },
  )
}

/** Confirms the payment, or cancels it if the form says so. Goes back to the first page if success was not chosen. */
export async function confirm(visit: JourneyStep, form: URLSearchParams): Promise<PageOrRedirect> {
  if (form.getAll('scenario').includes('cancel')) return end(visit, 'cancel')
  return afterSuccess(visit, await moveByToken(visit, 'confirm'))
}

type Moved = Awaited<ReturnType<typeof moveByToken>>

async function afterSuccess(visit: JourneyStep, result: Moved): Promise<PageOrRedirect> {
  if (result?.moved && !isOnPages(result.payment)) return leave(result.payment)
  return unlessOver(visit, result?.payment, payment =>
    visit.byForm || !isPayable(statusOf(payment))
      ? nextPage(visit, payment)
      : { location: pagePath(visit) },
  )
}

/** Shows the page of an ending, unless another request ended the payment first. */
async function end(visit: JourneyStep, scenario: Exclude<Choice, 'success'>) {
  const result = await moveByToken(visit, choiceTriggers[scenario])
  if (result?.moved) return endOf(visit, result.payment)
  return unlessOver(visit, result?.payment, payment => nextPage(visit, payment))
}

const endOf = (visit: JourneyStep, payment: Payment): PageOrRedirect => ({
  status: 200,
  page: endPage(visit, endingOf(payment), wayBack(payment)),
})

/**
 * The way back to the service for a refused request. Undefined if there is no payment, or if reading it fails: that
 * fault must not replace the error that is reported.
 */
export async function findWayBack(holder: TokenHolder): Promise<ReturnLink | undefined> {
  const found = await findByPageToken(holder).catch(() => undefined)
  return found && wayBack(found.payment)
}

/** A web payment always has a return_url. */
const wayBack = ({ given: { language, return_url = '' } }: Payment): ReturnLink => ({
  language,
  returnUrl: return_url,
})

/** The web payment with this token and its account. Undefined if there is none, or if it is gone. */
async function findByPageToken({ context, token }: TokenHolder) {
  const found = await currentByToken(context, token)
  if (found?.payment.given.authorisation_mode !== 'web') return undefined
  context.recordEffects?.(found)
  return found
}

/** Moves the web payment with this token. Undefined if there is none; not moved if its state does not allow it. */
const moveByToken = (holder: TokenHolder, trigger: Trigger) =>
  movePayment(holder.context, () => findByPageToken(holder), trigger)

const find = async (visit: JourneyStep) => (await findByPageToken(visit))?.payment

/** Whether the user has something left to do on the pages. */
const isOnPages = (payment: Payment): boolean =>
  isPayable(statusOf(payment)) || allows(payment, 'confirm')

const unlessOver = async (
  visit: JourneyStep,
  payment: Payment | undefined,
  show: (payment: Payment) => PageOrRedirect | Promise<PageOrRedirect>,
): Promise<PageOrRedirect> => payment && (isOnPages(payment) ? show(payment) : over(visit, payment))

/** The response of every page once the payment is finished or capturable (Specification, *States and transitions*). */
const over = (visit: JourneyStep, payment: Payment): PageOrRedirect =>
  endedPage[behaviourOf(payment)] === 'redirect' ? leave(payment) : endOf(visit, payment)

const leave = (payment: Payment): PageOrRedirect => ({ location: wayBack(payment).returnUrl })

/** The page to which next_url leads. If the card is authorised, only the confirmation is left. */
function nextPage(visit: JourneyStep, payment: Payment, error = false) {
  return isPayable(statusOf(payment)) ? details(visit, payment, error) : toConfirm(visit, payment)
}

const toConfirm = (visit: JourneyStep, payment: Payment) =>
  visit.byForm ? confirmation(visit, payment) : { location: `${pagePath(visit)}/confirm` }

async function details(
  visit: JourneyStep,
  payment: Payment,
  error: boolean,
): Promise<PageOrRedirect> {
  const summary = await summaryOf(visit, payment)
  const page = detailsPage(visit, summary, formTo(visit, 'details'), { error })
  return { status: error ? 400 : 200, page, toHttp: isToHttp(payment) }
}

async function confirmation(visit: JourneyStep, payment: Payment): Promise<PageOrRedirect> {
  const summary = { ...(await summaryOf(visit, payment)), card: mockCardOf(payment) }
  const page = confirmPage(visit, summary, formTo(visit, 'confirm'))
  return { status: 200, page, toHttp: isToHttp(payment) }
}

const isToHttp = (payment: Payment): boolean => plainHttp[behaviourOf(payment)](false)

/** Includes the description of the agreement that the payment sets up: the user must know that the card is kept. */
async function summaryOf({ context }: JourneyStep, { given, room }: Payment) {
  const { prefilled, set_up_agreement: id } = given
  const address = prefilled?.billing_address
  const agreement = id === undefined ? undefined : await findAgreement(context.database, room, id)
  return {
    ...given,
    ...prefilled,
    ...(address && { billing_address: withCountry(address) }),
    agreement: agreement?.description,
  }
}

const pagePath = ({ basePath, token }: JourneyStep): string => `${basePath}/secure/${token}`

function formTo(visit: JourneyStep, step: 'details' | 'confirm'): Form {
  const { basePath, token, byForm } = visit
  if (byForm) return { action: `${basePath}/secure`, hidden: { chargeTokenId: token, step } }
  return { action: step === 'confirm' ? `${pagePath(visit)}/confirm` : pagePath(visit), hidden: {} }
}
