/**
 * Situations of production in which integrations break, and which the documentation of GOV.UK Pay tells a client to
 * handle; and whether the application has met them.
 */
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { Behaviour } from '../../../core/account.ts'
import { timeOf } from '../../../core/ids.ts'
import { DAY, MINUTE, SECOND } from '../../../core/time.ts'
import type { Json } from '../../../platform/http/fields.ts'
import type { Evidence } from '../../record/exchange.ts'
import { type Known, type View, viewOf } from './learnt.ts'
import { type AccountRecord, idOf } from './record.ts'
import { isLost } from './requests.ts'
import { hasDone, hasSucceeded } from './rule.ts'

const SLOW = 5 * SECOND

/** Exchanges that show the situation, and exchanges that do not show whether the application noticed. */
type Seen = { met: readonly Evidence[]; unclear?: readonly Evidence[] }

/** Causes a situation: a request below /control, which a button sends too, or a probe of the newest webhook. */
type Step =
  | { path: 'plans'; body: Json }
  | { path: 'clock'; body: { advance: number } }
  | 'probe'
  | 'nothing'

/** `then`: the next step of the application, or of a person. `only`: the behaviour of the accounts that can meet it. */
type Row = [situation: string, seen: (view: View) => Seen, by: Step, then: string, only?: Behaviour]

/** Exchanges from which the application learnt a state that matches `pattern`, of a payment that is as `is` says. */
const states =
  (pattern: RegExp, is: (payment: Known) => boolean = () => true) =>
  ({ learnt, knownOf }: View): Seen => {
    const isAsked = (known: Known | undefined) => known !== undefined && is(known)
    const by = learnt
      .filter(({ state, ends }) => pattern.test(state) && ends.map(knownOf).some(isAsked))
      .map(({ by }) => by)
    return {
      met: by.filter(({ kind }) => kind === 'api'),
      unclear: by.filter(({ kind, test }) => kind === 'out' && !test),
    }
  }

const answered =
  (is: (answer: Evidence) => boolean) =>
  ({ answers }: View): Seen => ({ met: answers.filter(is) })

/** Messages on which the application acted, and the others. */
const messages =
  (among: (view: View) => readonly Evidence[]) =>
  (view: View): Required<Seen> => {
    const found = among(view)
    const { acted } = view
    return { met: found.filter(message => acted.has(message)), unclear: found }
  }

/** Messages that were accepted after another message to the same webhook was not. */
function afterFailure({ exchanges, taken }: View): Evidence[] {
  const down = new Set<string | undefined>()
  const accepted = new Set(taken)
  return exchanges.filter(exchange => {
    if (exchange.kind !== 'out' || exchange.hand === 'other') return false
    if (!hasSucceeded(exchange)) down.add(exchange.webhook_id)
    return accepted.has(exchange) && down.has(exchange.webhook_id)
  })
}

/** Messages that had been accepted before. Every second message of R3 is a repetition. */
function repeated({ exchanges, taken }: View): Evidence[] {
  const ofProbe = exchanges.filter(({ probe }) => probe === 'R3')
  const second = new Set(ofProbe.filter((_, i) => i % 2 === 1))
  const accepted = new Set<string | null>()
  return taken.filter(message => {
    if (message.probe !== undefined) return second.has(message)
    const isAgain = accepted.has(message.message_id)
    accepted.add(message.message_id)
    return isAgain
  })
}

/** Messages card_payment_succeeded that came after a later message about the same payment. */
function disordered({ taken }: View): Evidence[] {
  const [later, known] = [new Set<string>(), new Set<string | null>()]
  return taken.filter(message => {
    if (message.probe !== undefined || known.has(message.message_id)) return false
    known.add(message.message_id)
    if (message.operation === 'card_payment_succeeded') return later.has(idOf(message))
    later.add(idOf(message))
    return false
  })
}

const isCharge = ({ created }: Known): boolean => created?.mode === 'agreement'
const isOnce = (known: Known): boolean => !isCharge(known)
const isAuthorised = ({ authorised }: Known): boolean => authorised
const isOpen = ({ authorised }: Known): boolean => !authorised

const plan = (body: Json): Step => ({ path: 'plans', body })
const ends = (scenario: string, more: object = {}): Step => plan({ scenario, ...more })
const passing = (advance: number): Step => ({ path: 'clock', body: { advance } })

const READ = 'let your application create a payment, send a user to next_url and read the payment'
const CREATE = 'let your application create a payment'
const CHARGE = 'let your application take a payment with an agreement, and read it later'

/** A request of the client, and its answer from a plan or from the service. */
const refusals: [situation: string, does: string, status: number, code?: string][] = [
  ['A payment cannot be cancelled: P0501', 'cancel', 400, 'P0501'],
  ['A payment cannot be refunded: P0603', 'refund', 400, 'P0603'],
  ['Another amount is available for a refund: P0604', 'refund', 412, 'P0604'],
  ['The account may not take payments: P0940 to P0942', 'create', 403, 'P0941'],
  ['The API key is refused: 401', 'create', 401],
  ['What is asked for does not exist: 404', 'read', 404, 'P0200'],
  ['Too many requests: 429', 'create', 429],
  ['A fault of the service: 500', 'create', 500],
  ['The service is down: 503', 'create', 503],
]

/** The codes of an unknown path under each behaviour. */
const LOST = ['P0911', '404']

/** Whether the answer has one of the codes, or the status, with which the name of the situation ends. */
const isRefusedSo = (situation: string, { code = '', status }: Evidence): boolean => {
  const [, named = ''] = situation.split(': ')
  const [first = '', last = first] = named.split(' to ')
  return named === String(status) ? !LOST.includes(code) : code >= first && code <= last
}

const rows: readonly Row[] = [
  ['A card is declined', states(/P0010/, isOnce), ends('declined'), READ],
  ['The user cancels', states(/P0030/), ends('cancel'), READ],
  ['The payment provider has an error', states(/P0050/), ends('error'), READ],
  [
    'The service cancels a payment',
    view => {
      const { met, unclear = [] } = states(/P0040/)(view)
      return { met: [...met, ...view.answers.filter(hasDone('cancelPayment'))], unclear }
    },
    'nothing',
    'let your application cancel a payment that is open',
  ],
  [
    'The user abandons the payment, and it expires',
    states(/P0020/, isOpen),
    passing(90 * MINUTE),
    'let your application read a payment that was open',
    'govuk-pay',
  ],
  [
    'A payment that was authorised expires',
    states(/P0020/, isAuthorised),
    passing(5 * DAY),
    'let your application read a payment that was capturable',
    'govuk-pay',
  ],
  [
    'The payment is submitted when the user returns',
    states(/^submitted/, isOnce),
    ends('success', { confirm: false }),
    READ,
    'govuk-pay',
  ],
  [
    'A payment is captured days after it was made',
    answered(
      answer =>
        hasDone('capturePayment')(answer) &&
        answer.payment_id !== null &&
        answer.at - timeOf(answer.payment_id) >= DAY,
    ),
    passing(2 * DAY),
    'let your application capture a payment that was capturable',
  ],
  [
    'A refund fails after it was accepted',
    answered(({ shown }) => shown === 'refund error'),
    ends('error', { on: 'refundPayment' }),
    'let your application refund a payment, and read the refund later',
  ],
  [
    'A recurring payment is declined and may be tried again',
    states(/P0010 again/, isCharge),
    ends('declined', { can_retry: true }),
    CHARGE,
  ],
  [
    'A recurring payment is declined for good',
    states(/P0010 final/, isCharge),
    ends('declined', { can_retry: false }),
    CHARGE,
  ],
  [
    'A recurring payment is answered created first',
    states(/^(?:created|started)/, isCharge),
    'nothing',
    CHARGE,
    'govuk-pay',
  ],
  [
    'The agreement is inactive when a payment is taken with it',
    answered(answer => answer.agreement === 'inactive' && answer.created !== undefined),
    ends('declined', { can_retry: false }),
    'let your application take two payments with an agreement, the second one later',
  ],
  [
    'An answer is lost, and the request has taken effect',
    ({ exchanges }) => ({ met: exchanges.filter(isLost) }),
    plan({ on: 'createPayment', reset: true, when: 'after' }),
    CREATE,
  ],
  [
    'An answer takes five seconds or more',
    answered(({ ms }) => ms >= SLOW),
    plan({ on: 'createPayment', delay: 6 * SECOND }),
    CREATE,
  ],
  ...refusals.map(([situation, does, status, code]): Row => {
    const body = { on: `${does}Payment`, answer: { status, ...(code && { code }) } }
    const then = `let your application ${does} a payment`
    return [situation, answered(answer => isRefusedSo(situation, answer)), plan(body), then]
  }),
  [
    'The receiver is down for a while',
    messages(afterFailure),
    'nothing',
    'stop your receiver, let a user pay, start it, and let a user pay again',
  ],
  ['A message comes twice', messages(repeated), 'probe', ''],
  [
    'Messages come out of order',
    messages(disordered),
    plan({ on: 'message', delay: MINUTE }),
    'let a user pay, and move the clock by a minute',
  ],
  [
    'A message is as GOV.UK Pay prints it',
    view => {
      const { met, unclear } = messages(({ taken }) => taken.filter(({ govuk }) => govuk))(view)
      // Receivers break first on the statuses of failed payments, which the API does not have.
      const failed = unclear.filter(({ operation }) => /failed|expired/.test(operation))
      return { met, unclear: failed.length > 0 ? failed : unclear }
    },
    'nothing',
    'register the webhook of your receiver, and let a user pay',
    'govuk-pay',
  ],
]

/** curl has --json from 7.82 on only. */
const curl = (path: string, body: object): string =>
  `curl -H "Authorization: Bearer $FARTHING_API_KEY" -H "Content-Type: application/json" -d '${JSON.stringify(body)}' $FARTHING_URL/control/${path}`

/** The command and the library's call that cause the situation. A comment in them names the steps that are left. */
function linesOf(
  [, , by, then, only]: Row,
  { behaviour, isTest, toProbe }: AccountRecord,
): [line: string, library: string, more: string] {
  if (only && only !== behaviour) {
    const account = `await farthing.account(${inspect({ behaviour: only })})`
    const [path, what] = isTest
      ? ['reset', 'empties this account, so that it can meet it']
      : ['accounts', 'an account that can meet it']
    return [curl(path, { behaviour: only }), account, `${what}: run your tests with its key`]
  }
  if (by === 'nothing') return ['', '', then]
  const more = `then ${then}`
  if (by === 'probe') {
    if (!toProbe) return ['', '', 'register the webhook of your receiver first']
    const path = `/control/webhooks/${toProbe.webhook_id}/probe`
    const line = `farthing check --probe ${toProbe.webhook_id}`
    return [line, `await account.send('POST', '${path}')`, '']
  }
  const library =
    by.path === 'clock'
      ? `await account.clock.advance(${by.body.advance})`
      : `await account.plan(${inspect(by.body, { breakLength: Infinity })})`
  return [curl(by.path, by.body), library, more]
}

const UNCLEAR =
  'your receiver answered 2xx, and no request about the payment shows what it did: look in its log'

/** Whether the application has met each situation; null if only the application itself can tell. */
export async function situationsOf(record: AccountRecord) {
  const view = viewOf(record)
  // Each part takes some milliseconds over 10,000 exchanges.
  await setImmediate()
  return rows.map(row => {
    const [situation, seen] = row
    const { met, unclear = [] } = seen(view)
    const inTime = (met.length > 0 ? met : unclear).toSorted(
      (one, other) => one.began - other.began,
    )
    /** The newest exchange that shows the situation. */
    const evidence = inTime.at(-1)?.exchange_id ?? null
    const isMet = met.length > 0 || (unclear.length > 0 ? null : false)
    const [line, library, more] = isMet === null ? ['', '', UNCLEAR] : linesOf(row, record)
    const commented = (text: string, mark: string) =>
      [text, more && `${mark} ${more}`].filter(Boolean).join(' ')
    return {
      situation,
      met: isMet,
      evidence,
      line: commented(line, '#'),
      library: commented(library, '//'),
    }
  })
}

/**
 * The button beside a situation. It sends the request below /control, or leads to a probe, or to a new test account of
 * the behaviour. undefined if only the application can cause the situation.
 */
export function actOf(situation: string, behaviour: Behaviour) {
  const [, , by, , only = behaviour] = rows.find(([name]) => name === situation) ?? []
  if (only !== behaviour) return only
  return typeof by === 'object' || by === 'probe' ? by : undefined
}
