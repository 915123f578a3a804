import { behaviours } from '../core/account.ts'
import { checkAccount } from './check.ts'
import { ControlError } from './errors.ts'
import { HostPromise, onlyOnce } from './host-globals.ts'
import type { Call, Connection } from './http.ts'
import type {
  Account,
  Clock,
  LoggedRequest,
  Moment,
  NewPlan,
  Payment,
  Plan,
  Receiver,
  WhichRequests,
} from './public.d.ts'
import { startReceiver } from './receiver.ts'
import {
  check,
  checkFields,
  checkOptions,
  duration,
  flag,
  isoOf,
  milliseconds,
  moment,
  oneOf,
  text,
  unchecked,
  whole,
} from './values.ts'
import { settled, waitForPayment } from './waits.ts'

export type Identity = { name: string; key: string }

const accountStartRules = { behaviour: oneOf(behaviours), at: moment, frozen: unchecked }
export const accountRules = {
  name: unchecked,
  ...accountStartRules,
  keepOnFailure: flag,
}
const requestRules = {
  operation: text,
  payment_id: text,
  reference: text,
  status: whole(100, 599),
}

/** `finish` ends the account, unless `keep` was called. `keep` returns a line about that for an error, or ''. */
type Ending = { finish(): Promise<void>; keep(): string }

export function createAccount(
  connection: Connection,
  { name, key }: Identity,
  { finish, keep }: Ending,
): Account {
  const receivers = new Set<Receiver>()
  const call = connection.callWith(key)
  const account: Account = {
    name,
    key,
    url: connection.url,
    payment: fields => call('POST', '/control/payments', fields),
    complete: async (payment, how) =>
      call(
        'POST',
        `/control/payments/${idOf(payment)}/complete`,
        typeof how === 'object' ? how : { scenario: how },
      ),
    waitForPayment: (which, options) => waitForPayment(call, keep, which, options),
    plan: plan => makePlan(call, plan),
    async receive(options = {}) {
      const receiver = await startReceiver(call, keep, options)
      receivers.add(receiver)
      return receiver
    },
    clock: createClock(call),
    requests: which => allRequests(call, which),
    settled: options => settled(call, keep, options),
    check: options => checkAccount(call, keep, options),
    async reset(options = {}) {
      checkOptions('reset', options, accountStartRules)
      await call('POST', '/control/reset', accountStart(options))
    },
    send: (method, path, body, headers) => connection.send(key, { method, path, body, headers }),
    end: onlyOnce(async () => {
      await HostPromise.all([...receivers].map(receiver => receiver.close()))
      await finish()
    }),
    [Symbol.asyncDispose]: () => account.end(),
  }
  return account
}

function idOf(payment: Payment | string): string {
  const id = typeof payment === 'string' ? payment : payment?.payment_id
  check('complete', id, [text[0], 'is not a payment or a payment_id'])
  return encodeURIComponent(id)
}

/** The body of the request that makes or resets an account. */
export const accountStart = ({ at, ...rest }: { at?: Moment | undefined }) => ({
  ...rest,
  at: at && isoOf(at),
})

function createClock(call: Call): Clock {
  const set = async (body?: object) =>
    new Date((await call(body ? 'POST' : 'GET', '/control/clock', body)).now)
  return {
    now: async () => set(),
    async freeze(at) {
      if (at === undefined) return set({ freeze: true })
      check('clock.freeze', at, moment)
      return set({ freeze: isoOf(at) })
    },
    async advance(by) {
      check('clock.advance', by, duration)
      return set({ advance: milliseconds(by) })
    },
    resume: async () => set({ resume: true }),
  }
}

async function makePlan(call: Call, plan: NewPlan): Promise<Plan> {
  const { plan_id } = await call('POST', '/control/plans', plan)
  const handle: Plan = {
    plan_id,
    async counts() {
      const { results } = await call('GET', '/control/plans')
      const found = results.find((result: Plan) => result.plan_id === plan_id)
      if (!found)
        throw new ControlError(`there is no plan ${plan_id}: it was removed`, 404, 'C0200')
      const { seen, acted, note } = found
      return { seen, acted, ...(note && { note }) }
    },
    async remove() {
      try {
        await call('DELETE', `/control/plans/${plan_id}`)
      } catch (error) {
        // A reset or the end of the account has removed it.
        if (!(error instanceof ControlError) || ![401, 404].includes(error.status)) throw error
      }
    },
    [Symbol.asyncDispose]: () => handle.remove(),
  }
  return handle
}

/** The requests until now: a busy application makes more meanwhile. */
async function allRequests(call: Call, which: WhichRequests = {}): Promise<LoggedRequest[]> {
  checkFields('requests', which, requestRules)
  const read = (paging: object) => {
    const query: object = { ...which, ...paging }
    return call('GET', `/control/requests?${new URLSearchParams({ ...query })}`)
  }
  const [newest] = (await read({ limit: 1 })).results
  const all = new Map<string, LoggedRequest>()
  let from: object = { since: '1970-01-01T00:00:00.000Z' }
  while (newest && !all.has(newest.request_id)) {
    const { results, next } = await read({ ...from, limit: 500 })
    for (const result of results) all.set(result.request_id, result)
    // A page may end at its limit of bytes, so a page with few requests need not be the last.
    if (results.length === 0) break
    from = { after: next }
  }
  return [...all.values()]
}
