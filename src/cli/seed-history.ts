import { type Agreement, activate } from '../agreements/agreement.ts'
import { type CardDetails, DECLINED_CARD, MOCK_CARD, submittedCard } from '../payments/card.ts'
import { makePayment } from '../payments/commands.ts'
import { advance, type Payment, refund, type Trigger } from '../payments/payment.ts'
import { readNewPayment } from '../payments/request.ts'
import type { NewId } from '../ports.ts'
import type { Refund } from '../refunds/refund.ts'

/** What one seeded payment leaves behind. */
export type History = { payment: Payment; refunds: Refund[]; agreement: Agreement | undefined }

type Course = {
  /** How many of a hundred payments take this course. */
  share: number
  mode?: 'moto_api' | 'agreement'
  delayed?: true
  setsUp?: true
  triggers: Trigger[]
  refunds?: 'some' | 'all'
}

const PAID: Trigger[] = ['open_page', 'choose_success', 'confirm']
const SET_UP: Course = { share: 1, setsUp: true, triggers: PAID }

/** What becomes of payments, so that every status, mode and ending is found; a hundred shares in all. */
const courses: Course[] = [
  { share: 40, triggers: PAID },
  { share: 6, triggers: PAID, refunds: 'some' },
  { share: 4, triggers: PAID, refunds: 'all' },
  { share: 4, triggers: PAID, delayed: true },
  { share: 4, triggers: [...PAID, 'capture'], delayed: true },
  { share: 8, triggers: [] },
  { share: 6, triggers: ['open_page'] },
  { share: 8, triggers: ['open_page', 'choose_declined'] },
  { share: 4, triggers: ['open_page', 'choose_cancel'] },
  { share: 3, triggers: ['cancel'] },
  { share: 2, triggers: ['open_page', 'choose_error'] },
  { share: 4, mode: 'agreement', triggers: [] },
  { share: 4, mode: 'moto_api', triggers: ['authorise'] },
  { share: 2, mode: 'moto_api', triggers: ['authorise_declined'] },
  SET_UP,
]
const byHundredth = courses.flatMap(course => Array<Course>(course.share).fill(course))

/** Between one step of a payment and the next, in milliseconds. */
const STEP = 20_000

const surnames = ['ashworth', 'begum', 'cadogan', 'driscoll', 'eze', 'farrow', 'hughes', 'ikeda']
const things = ['Market pitch', 'Allotment', 'Parking permit', 'Garden waste', 'Skip licence']

/** A number that looks like chance and is always the same. */
const scatter = (number: number): number => Math.imul(number + 1, 0x9e3779b1) >>> 7

/**
 * Makes the payments of an account, one after the other: the `number` decides what becomes of each,
 * `at`, in milliseconds, never goes back. They go through the rules that all payments do, so nothing
 * of them is impossible; only webhooks are not told.
 */
export function createHistory(account: string, newId: NewId) {
  let active: Agreement | undefined

  return function next(number: number, at: number): History {
    const chosen = byHundredth[scatter(number) % byHundredth.length] ?? SET_UP
    const course = chosen.mode === 'agreement' && !active ? SET_UP : chosen
    const created = course.setsUp ? newAgreement(account, newId(at), number) : undefined
    const used = course.mode === 'agreement' ? active : undefined
    const given = readNewPayment(body(course, number, (created ?? used)?.agreement_id))
    const { after } = makePayment({ clock: () => at, newId }, account, given, used)
    const payment = walk(after, course.triggers, at)
    const end = at + course.triggers.length * STEP
    const agreement = created && payment.card && activate(created, payment.card, end)
    if (agreement) active = agreement
    return { ...refunded(payment, course.refunds, newId, end), agreement }
  }
}

/** The body of the request that asks for it. */
function body(course: Course, number: number, agreement_id: string | undefined) {
  const { mode = 'web', delayed = false, setsUp = false } = course
  const surname = surnames[scatter(number) % surnames.length]
  const web = {
    return_url: `https://shop.example.org/orders/${number}`,
    email: `${surname}.${number}@example.org`,
    prefilled_cardholder_details: { cardholder_name: `R ${surname}` },
  }
  return {
    amount: 100 + (scatter(number) % 50_000),
    reference: `SEED-${String(number).padStart(7, '0')}`,
    description: `${things[number % things.length]}, number ${number}`,
    language: number % 20 === 0 ? 'cy' : 'en',
    delayed_capture: delayed,
    authorisation_mode: mode,
    ...(mode === 'web' && web),
    ...(setsUp && { set_up_agreement: agreement_id }),
    ...(mode === 'agreement' && { agreement_id }),
  }
}

function newAgreement(account: string, agreement_id: string, number: number): Agreement {
  return {
    agreement_id,
    account,
    version: 1,
    status: 'created',
    reference: `SEED-AGREEMENT-${number}`,
    description: 'Direct renewal, every month',
  }
}

function walk(payment: Payment, triggers: Trigger[], created: number): Payment {
  return triggers.reduce((before, trigger, i) => {
    const change = advance(before, trigger, created + (i + 1) * STEP, cardFor(trigger))
    if (!change) throw new Error(`a seeded payment cannot ${trigger}`)
    return change.after
  }, payment)
}

/** The card that the operator submits. */
function cardFor(trigger: Trigger): CardDetails | undefined {
  if (trigger === 'authorise') return submittedCard(MOCK_CARD, 'R Operator', '09/31')
  if (trigger === 'authorise_declined') return submittedCard(DECLINED_CARD, 'R Operator', '09/31')
  return undefined
}

function refunded(payment: Payment, how: Course['refunds'], newId: NewId, at: number) {
  const { payment_id, account, given } = payment
  if (!how) return { payment, refunds: [] }
  const amount = how === 'all' ? given.amount : Math.ceil(given.amount / 3)
  const refunds: Refund[] = [{ refund_id: newId(at), payment_id, account, amount }]
  return { payment: refund(payment, amount, at).after, refunds }
}
