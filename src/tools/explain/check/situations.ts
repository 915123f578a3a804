/**
 * What the documentation of GOV.UK Pay tells a client to handle, and whether the account has met it: the situations of
 * production in which integrations break.
 */
import { inspect } from 'node:util'
import type { Behaviour } from '../../../core/account.ts'
import { timeOf } from '../../../core/ids.ts'
import { DAY, MINUTE } from '../../../core/time.ts'
import type { Json } from '../../../platform/http/fields.ts'
import type { Evidence } from '../../record/exchange.ts'
import type { AccountRecord } from './record.ts'
import { isLost } from './requests.ts'
import { hasDone, hasSucceeded } from './rule.ts'

type Met = (record: AccountRecord) => readonly Evidence[]

/** A request below /control. */
type Act = { path: 'plans' | 'clock'; body: Json }

type Row = {
  situation: string
  met: Met
  /** How to make it: a command, with what else is to be done in a comment behind it, and a call of the library. */
  line: string
  library: string
  /** The request of the line, for a button. */
  act?: Act
  /** Only an account that behaves so can meet it. */
  only?: Behaviour
}

/** curl has --json from 7.82 on only. */
const HEADERS = '-H "Authorization: Bearer $FARTHING_API_KEY" -H "Content-Type: application/json"'

/** A request to the control API. */
const control = (path: string, body: object, then: string): string =>
  `curl ${HEADERS} -d '${JSON.stringify(body)}' $FARTHING_URL/control/${path} # ${then}`

/** A plan, after which the application does something. */
function planned(body: Json, then: string): Pick<Row, 'line' | 'library' | 'act'> {
  const after = `then let your application ${then}`
  return {
    act: { path: 'plans', body },
    line: control('plans', body, after),
    library: `await account.plan(${inspect(body, { breakLength: Infinity })}); ${after}`,
  }
}

/** A step of the clock, when the application has done something. */
const moved = (advance: number, then: string): Pick<Row, 'line' | 'act'> => ({
  line: control('clock', { advance }, then),
  act: { path: 'clock', body: { advance } },
})

const PAY = 'create a payment and open its next_url'
const CHARGE = 'take a payment with the agreement'
const CAPTURE = 'then let your application capture that payment'

const seenWith =
  (is: (each: Evidence) => boolean): Met =>
  ({ exchanges }) =>
    exchanges.filter(is)

const isState = (pattern: RegExp) => seenWith(({ state = '' }) => pattern.test(state))

const isByAgreement = ({ created }: Evidence): boolean => created?.mode === 'agreement'

const isStateByAgreement = (pattern: RegExp) =>
  seenWith(each => isByAgreement(each) && pattern.test(each.state ?? ''))

/** An attempt that was accepted after one of the same webhook was not. */
const downAndUp: Met = ({ exchanges }) => {
  const down = new Set<string | undefined>()
  return exchanges.filter(each => {
    if (each.kind !== 'out' || each.hand === 'other' || each.printed) return false
    if (!hasSucceeded(each)) down.add(each.webhook_id)
    return hasSucceeded(each) && down.has(each.webhook_id)
  })
}

/** A message that was accepted although it had been accepted before. */
const twice: Met = ({ exchanges }) => {
  const accepted = new Set<string | null>()
  return exchanges.filter(each => {
    if (each.kind !== 'out' || !hasSucceeded(each)) return false
    const isAgain = accepted.has(each.message_id) && each.hand !== 'other'
    if (each.hand !== 'other') accepted.add(each.message_id)
    return isAgain || each.probe === 'R3'
  })
}

const PROBE = {
  line: 'farthing check --probe WEBHOOK_ID',
  library: "await account.send('POST', '/control/webhooks/WEBHOOK_ID/probe')",
}

const rows: readonly Row[] = [
  {
    situation: 'A card is declined',
    met: seenWith(each => /P0010/.test(each.state ?? '') && !isByAgreement(each)),
    ...planned({ scenario: 'declined' }, PAY),
  },
  {
    situation: 'The user cancels',
    met: isState(/P0030/),
    ...planned({ scenario: 'cancel' }, PAY),
  },
  {
    situation: 'The payment provider has an error',
    met: isState(/P0050/),
    ...planned({ scenario: 'error' }, PAY),
  },
  {
    situation: 'The user abandons the payment, and it expires',
    met: isState(/P0020/),
    ...moved(90 * MINUTE, 'after your application has created a payment'),
    library: "await account.clock.advance('90m')",
    only: 'govuk-pay',
  },
  {
    situation: 'The payment is submitted when the user returns',
    met: isState(/^submitted/),
    ...planned({ scenario: 'success', confirm: false }, PAY),
    only: 'govuk-pay',
  },
  {
    situation: 'A payment is captured days after it was made',
    met: seenWith(
      each =>
        hasDone('capturePayment')(each) &&
        each.payment_id !== null &&
        each.at - timeOf(each.payment_id) >= DAY,
    ),
    ...moved(2 * DAY, `after a user has paid with delayed_capture; ${CAPTURE}`),
    library: `await account.clock.advance('2d'); ${CAPTURE}`,
  },
  {
    situation: 'A refund is refused, because the amount that is available is another one',
    met: seenWith(({ operation, code }) => operation === 'refundPayment' && code === 'P0604'),
    ...planned({ on: 'refundPayment', answer: { status: 412, code: 'P0604' } }, 'refund a payment'),
  },
  {
    situation: 'A refund fails after it was accepted',
    met: seenWith(({ failedRefund }) => failedRefund === true),
    ...planned(
      { on: 'refundPayment', scenario: 'error' },
      'refund a payment, and read the refund later',
    ),
  },
  {
    situation: 'A recurring payment is declined and may be tried again',
    met: isStateByAgreement(/P0010$/),
    ...planned({ scenario: 'declined', can_retry: true }, CHARGE),
  },
  {
    situation: 'A recurring payment is declined for good',
    met: isStateByAgreement(/P0010 final$/),
    ...planned({ scenario: 'declined', can_retry: false }, CHARGE),
  },
  {
    situation: 'A recurring payment is answered created first',
    met: isStateByAgreement(/^(?:created|started)$/),
    ...planned({ hold: true }, CHARGE),
    only: 'govuk-pay',
  },
  {
    situation: 'The agreement is inactive when a payment is taken with it',
    met: seenWith(
      each =>
        each.operation === 'createPayment' &&
        isByAgreement(each) &&
        each.status === 400 &&
        each.field === 'agreement_id',
    ),
    ...planned({ scenario: 'declined', can_retry: false }, `${CHARGE} twice`),
  },
  {
    situation: 'An answer is lost, and the request has taken effect',
    met: seenWith(isLost),
    ...planned({ on: 'createPayment', reset: true, when: 'after' }, 'create a payment'),
  },
  {
    situation: 'Too many requests: 429',
    met: seenWith(({ kind, status }) => kind === 'api' && status === 429),
    ...planned({ on: 'createPayment', answer: { status: 429 } }, 'create a payment'),
  },
  {
    situation: 'A fault of the service: 500',
    met: seenWith(({ kind, status }) => kind === 'api' && status === 500),
    ...planned({ on: 'createPayment', answer: { status: 500 } }, 'create a payment'),
  },
  {
    situation: 'The receiver is down for a while',
    met: downAndUp,
    line: '# stop your receiver, let a user pay, start it, and let a user pay again',
    library: 'receiver.answer(503), then receiver.answer(200)',
  },
  { situation: 'A message comes twice', met: twice, ...PROBE },
  {
    situation: 'Messages come out of order',
    met: seenWith(each => each.probe === 'R4' && hasSucceeded(each)),
    ...PROBE,
  },
  {
    situation: 'A message is as GOV.UK Pay prints it',
    met: seenWith(each => each.govuk === true && hasSucceeded(each)),
    line: control(
      'reset',
      { behaviour: 'govuk-pay' },
      'register your webhook again, and let a user pay',
    ),
    library: "await account.reset({ behaviour: 'govuk-pay' }); await account.receive()",
  },
]

/** The identifier in the lines is that of a webhook of the application, if there is one. */
export function situationsOf(record: AccountRecord) {
  const webhook = record.toProbe?.webhook_id ?? 'WEBHOOK_ID'
  const named = (text: string) => text.replace('WEBHOOK_ID', webhook)
  const possible = rows.filter(({ only = record.behaviour }) => only === record.behaviour)
  return possible.map(({ situation, met, line, library }) => {
    /** The newest exchange that shows it. */
    const evidence = met(record).at(-1)?.exchange_id ?? null
    const isMet = evidence !== null
    return { situation, met: isMet, evidence, line: named(line), library: named(library) }
  })
}

/** What a button beside the situation does; undefined where its line is no request below /control. */
export const actOf = (situation: string): Act | undefined =>
  rows.find(each => each.situation === situation)?.act
