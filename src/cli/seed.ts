import { type Account, DEFAULT_ACCOUNT } from '../core/account.ts'
import type { Config } from '../core/config.ts'
import { createNewId, secrets } from '../core/ids.ts'
import { hint } from '../core/invocation.ts'
import type { Database, NewId, Statement } from '../core/ports.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { integer } from '../core/values.ts'
import { type Agreement, activate, makeAgreement } from '../pay/agreements/agreement.ts'
import { insertAgreement } from '../pay/agreements/store.ts'
import { type CardDetails, DECLINED_CARD, MOCK_CARD, submittedCard } from '../pay/card.ts'
import { advance } from '../pay/payments/advance.ts'
import { makePayment } from '../pay/payments/commands.ts'
import { dueStep } from '../pay/payments/due.ts'
import type { Payment } from '../pay/payments/payment.ts'
import { refund } from '../pay/payments/refund.ts'
import { readNewPayment } from '../pay/payments/request.ts'
import { takeStep } from '../pay/payments/scenario.ts'
import { insertPayment } from '../pay/payments/store.ts'
import type { Trigger } from '../pay/payments/transitions.ts'
import { insertRefund } from '../pay/refunds/store.ts'
import { RETENTION_MS } from '../pay/retention.ts'
import { findOrMakeAccount, listKeys } from '../platform/accounts/store.ts'
import { accountOptions, NEEDS_DATABASE, useDatabase } from './database.ts'
import { defineCommand } from './define-command.ts'
import { note, print, printJson } from './output.ts'
import { option } from './parse.ts'

/** Milliseconds from the oldest seeded payment to the newest. The oldest has a day left until it is deleted. */
const SPAN = RETENTION_MS - DAY

/** Age in milliseconds of the newest payment: all of its steps are in the past. */
const LATEST = 5 * MINUTE

/** Payments in one write. More would delay the requests of a running service, fewer would take longer in all. */
const BATCH = 250

const MOST_PAYMENTS = 100_000_000

const options = {
  payments: {
    value: '<number>',
    meaning: 'how many',
    parse: option(integer(1, MOST_PAYMENTS)),
    isRequired: true,
  },
  ...accountOptions,
} as const

export const seed = defineCommand({
  summary: 'fill the database with payments, refunds and agreements',
  examples: [
    'farthing seed --payments 1000',
    'farthing seed --payments 1000 --account licensing --create',
  ],
  options,
  after: `From 400 on the payments cover every mode and state. They are dated over the
last 6 days and last 7, so the oldest expire tomorrow. No webhooks are sent.
${NEEDS_DATABASE}`,
  async run({ config: readConfig, options }) {
    const config = readConfig()
    const { payments, account } = options
    await useDatabase(config.database, options, async database => {
      const owner = await findOrMakeAccount(database, account, config.behaviour)
      await writeHistories(database, owner, payments)
      if (!(await mayBeSeen(database, account, config)))
        note(
          hint`No key can see them yet. To make one: farthing keys create --account "${account}"`,
        )
    })
    if (options.json) return printJson({ payments, account })
    print(`Made ${payments} ${payments === 1 ? 'payment' : 'payments'} in the account ${account}.`)
  },
})

/** An account may have a key in the settings. The first start makes one for the default account. */
async function mayBeSeen(database: Database, account: string, config: Config): Promise<boolean> {
  const keys = await listKeys(database)
  if (config.fixedKeys.some(key => key.account === account)) return true
  if (account === DEFAULT_ACCOUNT && keys.length === 0) return true
  return keys.some(key => key.account === account && key.revoked === null)
}

/** Makes each batch while the one before it is being written. */
async function writeHistories(database: Database, account: Account, count: number): Promise<void> {
  const newest = Date.now() - LATEST
  const next = createHistory(account, createNewId())
  const showProgress = createProgress(count)
  let written: Promise<unknown> = Promise.resolve()
  for (let done = 0; done < count; done += BATCH) {
    const size = Math.min(BATCH, count - done)
    const histories = Array.from({ length: size }, (_, i) =>
      next(done + i, Math.floor(newest - SPAN * (1 - (done + i) / count))),
    )
    await written
    showProgress(done)
    written = database.write(histories.flat())
  }
  await written
  showProgress(count)
}

/** Writes a line to standard error for each tenth that is done. */
function createProgress(total: number): (done: number) => void {
  const began = performance.now()
  let tenths = 0
  return done => {
    const now = Math.floor((done / total) * 10)
    if (now === tenths) return
    tenths = now
    const seconds = (performance.now() - began) / 1000
    const left = Math.ceil((seconds * (total - done)) / done)
    note(
      `${now * 10} %  ${done} of ${total}, ${Math.round(done / seconds)} a second, ${left} s left`,
    )
  }
}

type Course = {
  /** How many of 100 payments take this course. */
  share: number
  mode?: 'moto_api' | 'agreement'
  delayed?: true
  setsUp?: true
  triggers: Trigger[]
  refunds?: 'some' | 'all'
}

const PAID: Trigger[] = ['open_page', 'choose_success', 'confirm']
const SET_UP: Course = { share: 1, setsUp: true, triggers: PAID }

/** The shares add up to 100. Every status, mode and ending is among them. */
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

/** Milliseconds from one step of a payment to the next. */
const STEP = 20_000

const surnames = ['ashworth', 'begum', 'cadogan', 'driscoll', 'eze', 'farrow', 'hughes', 'ikeda']
const descriptions = ['Market pitch', 'Allotment', 'Parking permit', 'Garden waste', 'Skip licence']

/** Multiplicative hashing: scatters the numbers, in the same way in each run. */
const scatter = (number: number): number => Math.imul(number + 1, 0x9e3779b1) >>> 7

/** Makes one payment after the other, as statements. `number` decides its course; `at` must not decrease. */
function createHistory(account: Account, newId: NewId) {
  const { room } = account
  let active: Agreement | undefined

  return function next(number: number, at: number): Statement[] {
    const chosen = byHundredth[scatter(number) % byHundredth.length] ?? SET_UP
    const course = chosen.mode === 'agreement' && !active ? SET_UP : chosen
    const fields = {
      reference: `SEED-AGREEMENT-${number}`,
      description: 'Direct renewal, every month',
    }
    const created = course.setsUp ? makeAgreement(newId(at), room, fields) : undefined
    const used = course.mode === 'agreement' ? active : undefined
    const given = readNewPayment(body(course, number, (created ?? used)?.agreement_id))
    const input = { given, agreement: used, origin: 'seed' } as const
    const { after } = makePayment({ newId, secrets }, account, at, input)
    const payment = withDueSteps(applyTriggers(after, course.triggers, at), used)
    const end = payment.captured_at ?? at + course.triggers.length * STEP
    const agreement =
      created && payment.card && activate(created, payment.card, end, account.behaviour)
    if (agreement) active = agreement
    const statements = agreement ? [insertAgreement(agreement)] : []
    if (!course.refunds) return [...statements, insertPayment(payment)]
    const amount = Math.ceil(given.amount / (course.refunds === 'all' ? 1 : 3))
    const { payment_id } = payment
    return [
      ...statements,
      insertPayment(refund(payment, amount, end).after),
      insertRefund({ refund_id: newId(end), payment_id, room, amount, scenario: 'success' }),
    ]
  }
}

/** The body of the request that would create the payment. */
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
    description: `${descriptions[number % descriptions.length]}, number ${number}`,
    language: number % 20 === 0 ? 'cy' : 'en',
    delayed_capture: delayed,
    authorisation_mode: mode,
    ...(mode === 'web' && web),
    ...(setsUp && { set_up_agreement: agreement_id }),
    ...(mode === 'agreement' && { agreement_id }),
  }
}

function applyTriggers(payment: Payment, triggers: Trigger[], created: number): Payment {
  return triggers.reduce((before, trigger, i) => {
    const change = advance(before, trigger, created + (i + 1) * STEP, cards[trigger])
    if (!change) throw new Error(`a seeded payment cannot ${trigger}`)
    return change.after
  }, payment)
}

/** The payment after all steps that are due by now. */
function withDueSteps(payment: Payment, agreement: Agreement | undefined): Payment {
  const due = dueStep(payment)
  if (!due || due.at > Date.now()) return payment
  return withDueSteps(takeStep(payment, agreement?.instrument?.card).after, agreement)
}

const cards: Partial<Record<Trigger, CardDetails>> = {
  authorise: submittedCard(MOCK_CARD, 'R Operator', '09/31'),
  authorise_declined: submittedCard(DECLINED_CARD, 'R Operator', '09/31'),
}
