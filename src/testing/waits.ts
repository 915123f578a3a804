import { Undelivered, WaitError } from './errors.ts'
import { elapsed, HostPromise, sleep } from './host-globals.ts'
import type { Connection } from './http.ts'
import type { LoggedRequest, Payment, UndeliveredMessage, WaitOptions, Which } from './public.d.ts'
import {
  check,
  checkFields,
  checkOptions,
  durationText,
  milliseconds,
  text,
  waitRules,
} from './values.ts'

const TIMEOUT = 5_000
/** Milliseconds that the service holds one request. */
const LONGEST_WAIT = 10_000
const POLL_INTERVAL = 25
const MOST_EXPLAINED = 5

/** The account whose state is waited for. `keep` keeps it, if that was asked for, and returns the line that says so, or ''. */
type Waiting = { key: string; keep(): string }

const whichRules = { payment_id: text, reference: text, status: text }
const PAYMENT_ID = /^[0-9a-v]{26}$/

export async function waitForPayment(
  connection: Connection,
  { key, keep }: Waiting,
  which: string | Which | Payment,
  options: WaitOptions = {},
): Promise<Payment> {
  checkOptions('waitForPayment', options, waitRules)
  const { timeout = TIMEOUT, signal } = options
  const wanted = wantedBy(which)
  const ms = milliseconds(timeout)
  const end = elapsed() + ms
  const find = async (query: object): Promise<Payment[]> => {
    const path = `/control/payments?${new URLSearchParams({ ...query })}`
    return (await connection.call(key, { method: 'GET', path, signal })).results
  }
  for (;;) {
    const left = Math.max(0, Math.round(end - elapsed()))
    const wait = String(Math.min(left, LONGEST_WAIT))
    const [found] = await find({ ...wanted, wait })
    if (found) return found
    if (left === 0) break
  }
  const { status, ...others } = wanted
  const state = [find(others).then(describePayments), describeRequests(connection, key)]
  const sentences = await HostPromise.all(
    state.map(reading => reading.catch(error => `More could not be read: ${error.message}.`)),
  )
  const waited = `waited ${durationText(ms)} for ${describe(wanted)}`
  throw new WaitError(`${waited}. ${sentences.join(' ')}`, keep())
}

function wantedBy(which: string | Which | Payment): Which {
  if (typeof which !== 'object' || which === null) {
    check('waitForPayment', which, [text[0], 'is not a payment, a payment_id or a reference'])
    return PAYMENT_ID.test(which) ? { payment_id: which } : { reference: which }
  }
  const isPayment = 'state' in which && !('status' in which)
  const wanted = isPayment ? { payment_id: which.payment_id } : which
  checkFields('waitForPayment', wanted, whichRules)
  return wanted
}

const describe = ({ payment_id, reference, status }: Which): string =>
  `${payment_id ?? reference ?? 'a payment'}${status ? ` to be ${status}` : ''}`

/** Without a request to /v1: that would be recorded as one of the application, and a plan would act on it. */
function describePayments(near: Payment[]): string {
  const sentences = near
    .slice(0, MOST_EXPLAINED)
    .map(
      ({ reference, state: { status, code }, created_date }) =>
        `${reference} is ${status}${code ? ` ${code}` : ''}, created ${created_date.slice(11, 23)}.`,
    )
  return sentences.join(' ') || 'There is no such payment.'
}

async function describeRequests(connection: Connection, key: string): Promise<string> {
  const path = `/control/requests?limit=${MOST_EXPLAINED}`
  const { results } = await connection.call(key, { method: 'GET', path })
  const requests = results.map(
    ({ method, path, status, code }: LoggedRequest) =>
      `${method} ${path} ${status}${code ? ` ${code}` : ''}`,
  )
  return requests.length > 0 ? `Last requests: ${requests.join(', ')}.` : 'There were no requests.'
}

/** Polls until no message is PENDING. Then none may be FAILED. */
export async function settled(
  connection: Connection,
  { key, keep }: Waiting,
  options: WaitOptions = {},
): Promise<void> {
  checkOptions('settled', options, waitRules)
  const { timeout = TIMEOUT, signal } = options
  const ms = milliseconds(timeout)
  const end = elapsed() + ms
  const find = async (delivery: string): Promise<UndeliveredMessage[]> => {
    const path = `/control/messages?delivery=${delivery}`
    return (await connection.call(key, { method: 'GET', path, signal })).results
  }
  let pending = await find('PENDING')
  while (pending.length > 0 && elapsed() < end) {
    await sleep(POLL_INTERVAL)
    pending = await find('PENDING')
  }
  const undelivered = [...(await find('FAILED')), ...pending]
  if (undelivered.length > 0) throw new Undelivered(undelivered, durationText(ms), keep())
}
