/**
 * What the documentation of GOV.UK Pay tells a client to handle, and whether the application has met it: the situations
 * of production in which integrations break.
 */
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { Behaviour } from '../../../core/account.ts'
import { timeOf } from '../../../core/ids.ts'
import { DAY, MINUTE, SECOND } from '../../../core/time.ts'
import type { Json } from '../../../platform/http/fields.ts'
import type { Evidence } from '../../record/exchange.ts'
import { type Known, type View, viewOf } from './learnt.ts'
import type { AccountRecord } from './record.ts'
import { isLost } from './requests.ts'
import { hasDone, hasSucceeded, idOf } from './rule.ts'

const SLOW = 5 * SECOND

/** The exchanges that show it, and those from which it cannot be seen whether the application noticed. */
type Seen = { met: readonly Evidence[]; unclear?: readonly Evidence[] }

/** What makes it: a request below /control, which a button sends too, or a probe of the newest webhook. */
type Made =
  | { path: 'plans'; body: Json }
  | { path: 'clock'; body: { advance: number } }
  | 'probe'
  | 'nothing'

/** `then`: what the application does then, or a person. `only`: only such an account can meet it. */
type Row = [situation: string, seen: (view: View) => Seen, by: Made, then: string, only?: Behaviour]

/** `is`: only such payments. */
const told =
  (pattern: RegExp, is: (payment: Known) => boolean = () => true) =>
  ({ told, knownOf }: View): Seen => {
    const isIt = (known: Known | undefined) => known !== undefined && is(known)
    const by = told
      .filter(({ state, ends }) => pattern.test(state) && ends.map(knownOf).some(isIt))
      .map(({ by }) => by)
    return {
      met: by.filter(({ kind }) => kind === 'api'),
      unclear: by.filter(({ kind, test }) => kind === 'out' && !test),
    }
  }

const answered =
  (is: (each: Evidence) => boolean) =>
  ({ answers }: View): Seen => ({ met: answers.filter(is) })

/** Of messages: those on which the application acted, and the others. */
const messages =
  (among: (view: View) => readonly Evidence[]) =>
  (view: View): Required<Seen> => {
    const found = among(view)
    const { acted } = view
    return { met: found.filter(each => acted.has(each)), unclear: found }
  }

/** Accepted after one of the same webhook was not. */
function afterFailure({ exchanges, taken }: View): Evidence[] {
  const down = new Set<string | undefined>()
  const accepted = new Set(taken)
  return exchanges.filter(each => {
    if (each.kind !== 'out' || each.hand === 'other') return false
    if (!hasSucceeded(each)) down.add(each.webhook_id)
    return accepted.has(each) && down.has(each.webhook_id)
  })
}

/** Accepted although it was accepted before. Of the messages of R3 every other one is a repetition. */
function repeated({ exchanges, taken }: View): Evidence[] {
  const ofProbe = exchanges.filter(({ probe }) => probe === 'R3')
  const second = new Set(ofProbe.filter((_, i) => i % 2 === 1))
  const accepted = new Set<string | null>()
  return taken.filter(each => {
    if (each.probe !== undefined) return second.has(each)
    const isAgain = accepted.has(each.message_id)
    accepted.add(each.message_id)
    return isAgain
  })
}

/** card_payment_succeeded after a later message about its payment. */
function disordered({ taken }: View): Evidence[] {
  const [later, known] = [new Set<string>(), new Set<string | null>()]
  return taken.filter(each => {
    if (each.probe !== undefined || known.has(each.message_id)) return false
    known.add(each.message_id)
    if (each.operation === 'card_payment_succeeded') return later.has(idOf(each))
    later.add(idOf(each))
    return false
  })
}

const isCharge = ({ created }: Known): boolean => created?.mode === 'agreement'
const isOnce = (known: Known): boolean => !isCharge(known)
const isAuthorised = ({ authorised }: Known): boolean => authorised
const isOpen = ({ authorised }: Known): boolean => !authorised

const plan = (body: Json): Made => ({ path: 'plans', body })
const ends = (scenario: string, more: object = {}): Made => plan({ scenario, ...more })
const passing = (advance: number): Made => ({ path: 'clock', body: { advance } })

const READ = 'let your application create a payment, send a user to next_url and read the payment'
const CREATE = 'let your application create a payment'
const CHARGE = 'let your application take a payment with an agreement, and read it later'

/** What the client does, and the answer that it gets to it, from a plan or from the service. */
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

/** Any of the codes or the status that its name ends with. */
const isSo = (situation: string, { code = '', status }: Evidence): boolean => {
  const [, named = ''] = situation.split(': ')
  const [first = '', last = first] = named.split(' to ')
  return named === String(status) ? code !== 'P0911' : code >= first && code <= last
}

const rows: readonly Row[] = [
  ['A card is declined', told(/P0010/, isOnce), ends('declined'), READ],
  ['The user cancels', told(/P0030/), ends('cancel'), READ],
  ['The payment provider has an error', told(/P0050/), ends('error'), READ],
  [
    'The service cancels a payment',
    view => {
      const { met, unclear = [] } = told(/P0040/)(view)
      return { met: [...met, ...view.answers.filter(hasDone('cancelPayment'))], unclear }
    },
    'nothing',
    'let your application cancel a payment that is open',
  ],
  [
    'The user abandons the payment, and it expires',
    told(/P0020/, isOpen),
    passing(90 * MINUTE),
    'let your application read a payment that was open',
    'govuk-pay',
  ],
  [
    'A payment that was authorised expires',
    told(/P0020/, isAuthorised),
    passing(5 * DAY),
    'let your application read a payment that was capturable',
    'govuk-pay',
  ],
  [
    'The payment is submitted when the user returns',
    told(/^submitted/, isOnce),
    ends('success', { confirm: false }),
    READ,
    'govuk-pay',
  ],
  [
    'A payment is captured days after it was made',
    answered(
      each =>
        hasDone('capturePayment')(each) &&
        each.payment_id !== null &&
        each.at - timeOf(each.payment_id) >= DAY,
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
    told(/P0010 again/, isCharge),
    ends('declined', { can_retry: true }),
    CHARGE,
  ],
  [
    'A recurring payment is declined for good',
    told(/P0010 final/, isCharge),
    ends('declined', { can_retry: false }),
    CHARGE,
  ],
  [
    'A recurring payment is answered created first',
    told(/^(?:created|started)/, isCharge),
    'nothing',
    CHARGE,
    'govuk-pay',
  ],
  [
    'The agreement is inactive when a payment is taken with it',
    answered(each => each.agreement === 'inactive' && each.created !== undefined),
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
    return [situation, answered(each => isSo(situation, each)), plan(body), then]
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
      // Receivers break first by the statuses of failed payments, which the API does not have.
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

const RUN = 'run your tests with its key'

type Lines = [line: string, library: string, more: string]

/** What makes the situation: a command, and a call of the library. What is left to do stands in a comment. */
function linesOf([, , by, then, only]: Row, record: AccountRecord): Lines {
  const { behaviour, isTest, toProbe } = record
  if (only && only !== behaviour) {
    const account = `await farthing.account(${inspect({ behaviour: only })})`
    return isTest
      ? [
          curl('reset', { behaviour: only }),
          account,
          `empties this account, so that it can meet it: ${RUN}`,
        ]
      : [curl('accounts', { behaviour: only }), account, `an account that can meet it: ${RUN}`]
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

const newest = (all: readonly Evidence[]): Evidence | undefined =>
  all.reduce<Evidence | undefined>(
    (one, other) => (one && one.began > other.began ? one : other),
    undefined,
  )

/** Of each situation whether it was met; null where only the application itself can tell. */
export async function situationsOf(record: AccountRecord) {
  const view = viewOf(record)
  // Each part takes some milliseconds over 10,000 exchanges.
  await setImmediate()
  return rows.map(row => {
    const [situation, seen] = row
    const { met, unclear = [] } = seen(view)
    /** The newest exchange that shows it. */
    const evidence = newest(met.length > 0 ? met : unclear)?.exchange_id ?? null
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
 * What a button beside the situation does: it sends a request below /control, or leads to where a probe is sent, or a test
 * account of this behaviour is made. Undefined where only the application makes it.
 */
export function actOf(situation: string, behaviour: Behaviour) {
  const [, , by, , only = behaviour] = rows.find(([name]) => name === situation) ?? []
  if (only !== behaviour) return only
  return typeof by === 'object' || by === 'probe' ? by : undefined
}
