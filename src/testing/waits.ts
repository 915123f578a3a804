import { Undelivered, WaitError } from './errors.ts'
import { elapsed, HostPromise, sleep } from './host-globals.ts'
import type { Call } from './http.ts'
import type { LoggedRequest, Payment, UndeliveredMessage, WaitOptions, Which } from './public.d.ts'
import { check, checkFields, checkOptions, milliseconds, text, waitRules } from './values.ts'

/** Milliseconds for which the service lets one request wait. */
const LONGEST_REQUEST = 10_000
const POLL_INTERVAL = 25
const MOST_EXPLAINED = 5

const whichRules = { payment_id: text, reference: text, status: text }
const PAYMENT_ID = /^[0-9a-v]{26}$/

/** Checks the options of a wait, and begins it. `left` returns milliseconds; `duration` is text: `5 s` or `250 ms`. */
export function startWait(call: string, options: WaitOptions) {
  checkOptions(call, options, waitRules)
  const { timeout = 5_000, signal } = options
  const ms = milliseconds(timeout)
  const end = elapsed() + ms
  const left = () => Math.max(0, Math.round(end - elapsed()))
  return { signal, left, duration: ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms` }
}

/** `keep` keeps the account if `keepOnFailure` is set. It returns a line about that for the error, otherwise ''. */
export async function waitForPayment(
  call: Call,
  keep: () => string,
  which: string | Which | Payment,
  options: WaitOptions = {},
): Promise<Payment> {
  const { signal, left, duration } = startWait('waitForPayment', options)
  const wanted = wantedBy(which)
  const find = async (query: object): Promise<Payment[]> => {
    const path = `/control/payments?${new URLSearchParams({ ...query })}`
    return (await call('GET', path, undefined, signal)).results
  }
  for (;;) {
    const ms = left()
    const [found] = await find({ ...wanted, wait: Math.min(ms, LONGEST_REQUEST) })
    if (found) return found
    if (ms === 0) break
  }
  const { status, ...others } = wanted
  const state = [find(others).then(describePayments), describeRequests(call)]
  const sentences = await HostPromise.all(
    state.map(reading => reading.catch(error => `More could not be read: ${error.message}.`)),
  )
  throw new WaitError(`waited ${duration} for ${describe(wanted)}. ${sentences.join(' ')}${keep()}`)
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

/** Makes no request to /v1: it would be recorded as the application's, and a plan would act on it. */
function describePayments(near: Payment[]): string {
  const sentences = near
    .slice(0, MOST_EXPLAINED)
    .map(
      ({ reference, state: { status, code }, created_date }) =>
        `${reference} is ${status}${code ? ` ${code}` : ''}, created ${created_date.slice(11, 23)}.`,
    )
  return sentences.join(' ') || 'There is no such payment.'
}

async function describeRequests(call: Call): Promise<string> {
  const { results } = await call('GET', `/control/requests?limit=${MOST_EXPLAINED}`)
  const requests = results.map(
    ({ method, path, status, code }: LoggedRequest) =>
      `${method} ${path} ${status}${code ? ` ${code}` : ''}`,
  )
  return requests.length > 0 ? `Last requests: ${requests.join(', ')}.` : 'There were no requests.'
}

/** Polls until no message is PENDING, except for attempts later in the account's time. Then none may be FAILED. */
export async function settled(call: Call, keep: () => string, options: WaitOptions = {}) {
  const { signal, left, duration } = startWait('settled', options)
  const find = async (delivery: string): Promise<UndeliveredMessage[]> => {
    const path = `/control/messages?delivery=${delivery}`
    return (await call('GET', path, undefined, signal)).results
  }
  const isLater = async (messages: UndeliveredMessage[]) => {
    if (messages.length === 0 || messages.some(({ next_attempt }) => !next_attempt)) return false
    const { now } = await call('GET', '/control/clock', undefined, signal)
    return messages.every(({ next_attempt }) => String(next_attempt) > now)
  }
  let pending = await find('PENDING')
  while (pending.length > 0 && left() > 0 && !(await isLater(pending))) {
    await sleep(POLL_INTERVAL)
    pending = await find('PENDING')
  }
  const undelivered = [...(await find('FAILED')), ...pending]
  if (undelivered.length > 0) throw new Undelivered(undelivered, duration, keep())
}
