/** Rules about recurring payments. */

import { DAY, HOUR } from '../../../core/time.ts'
import { documented, inCode } from '../../../pay/differences/source.ts'
import type { Evidence } from '../../record/exchange.ts'
import { creationOf, READ_WITHIN, resultOfLearning, runsOf } from './outcomes.ts'
import { idOf } from './record.ts'
import { IDEMPOTENCY } from './requests.ts'
import { type Row, rulesOf } from './rule.ts'

/** Milliseconds of account time. */
const RETRY_AFTER = 48 * HOUR
const TRIES_WITHIN = 30 * DAY
const MOST_TRIES = 15

const LATER =
  'By its source GOV.UK Pay answers created to a payment in agreement mode. Success or failure comes later, and nobody read it.'

const isCharge = (exchange: Evidence): boolean => creationOf(exchange)?.mode === 'agreement'

const rows: Row[] = [
  [
    'C4',
    'warn',
    'Idempotency-Key of recurring payments',
    'If the answer is lost and the request is repeated, the user pays twice.',
    'Send an Idempotency-Key with each payment in agreement mode, the same one when you repeat it.',
    IDEMPOTENCY,
    'No agreement payment was made.',
    ({ exchanges }) => {
      const creates = exchanges.filter(isCharge)
      const evidence = creates.filter(({ created }) => !created?.key)
      return { violations: [{ evidence }], right: creates }
    },
  ],
  [
    'C9',
    'fail',
    'The outcome of agreement payments',
    LATER,
    'Read the payment later, or take the messages of a webhook.',
    inCode('connector', 'charge/resource/ChargesApiResource.java', '183-188'),
    'No agreement payment was made 10 minutes ago or more.',
    record => {
      // A create that repeats its key is answered with 200, and counts too.
      const charges = [...record.creates.values()].filter(
        ({ created }) => created?.mode === 'agreement',
      )
      const { violations, right } = resultOfLearning(record, charges)
      const more = ' The answer has no agreement_id here; in production it has one.'
      const sentence = record.behaviour === 'specification' ? LATER + more : LATER
      return { violations: violations.map(violation => ({ ...violation, sentence })), right }
    },
    READ_WITHIN,
  ],
  [
    'C14',
    'warn',
    'Agreements that were declined for good',
    'A payment was taken with an agreement after its client had been told can_retry false. Its documentation says that this fails, and that the provider may charge for it.',
    'Ask the user to set the agreement up again, with a payment that has set_up_agreement, before you take another one.',
    documented('recurring_payments/#handling-failed-recurring-payments-that-cannot-be-retried'),
    'No recurring payment was declined for good.',
    ({ exchanges, creates }) => {
      const [evidence, right]: [Evidence[], Evidence[]] = [[], []]
      /** Agreements of which the client has learnt that no payment can be taken with them. */
      const finallyDeclined = new Set<string | undefined>()
      for (const exchange of exchanges) {
        const { created = creates.get(idOf(exchange))?.created, shown = '', agreement } = exchange
        if (created?.mode === 'agreement' && agreement === 'inactive')
          if (finallyDeclined.has(created.agreement)) evidence.push(exchange)
        if (!shown.endsWith('final')) continue
        finallyDeclined.add(created?.agreement)
        right.push(exchange)
      }
      return { violations: [{ evidence }], right }
    },
  ],
  [
    'C15',
    'note',
    'Trying a recurring payment again',
    'A payment was taken with an agreement within 48 hours after one was declined. Its documentation says to wait so long, and to tell the user before.',
    'Plan the next try two days later or more.',
    documented('recurring_payments/#handling-failed-recurring-payments-that-can-be-retried'),
    'No recurring payment was declined that may be tried again.',
    ({ exchanges, ofPayment }) => {
      const [soon, many, right]: [Evidence[], Evidence[], Evidence[]] = [[], [], []]
      const declinedAt = (charge: Evidence): number | undefined =>
        ofPayment
          .get(idOf(charge))
          ?.find(({ state = '', shown = '' }) => /P0010(?! final)/.test(`${state} ${shown}`))?.at
      const charges = exchanges.filter(isCharge)
      for (const tries of Map.groupBy(charges, ({ created }) => created?.agreement).values()) {
        const declined = tries.filter(charge => declinedAt(charge) !== undefined)
        right.push(...declined)
        tries.forEach((charge, i) => {
          const before = tries[i - 1]
          const at = before && declinedAt(before)
          if (at !== undefined && charge.at - at < RETRY_AFTER) soon.push(charge)
        })
        if (declined.length === 0) continue
        many.push(...runsOf(MOST_TRIES + 1, TRIES_WITHIN, tries).flatMap(run => run.slice(-1)))
      }
      const sentence =
        'More than 15 payments were tried with an agreement in 30 days, and some were declined. Its documentation says that card issuers may charge for that.'
      return { violations: [{ evidence: soon }, { evidence: many, sentence }], right }
    },
  ],
]

export const recurringRules = rulesOf(rows)
