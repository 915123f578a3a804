/** Agents of its own: `fetch` and Node's global ones obey proxy variables, and a proxy's addresses are unchecked. */

import { type Account, ownerOf } from '../../core/account.ts'
import { DELIVERIES, DELIVERIES_OF_ACCOUNT, DELIVERIES_TO_HOST } from '../../core/budgets.ts'
import type { AttemptResult, Post } from '../../core/ports.ts'
import { createSlots, type ReleaseSlot } from '../../core/slots.ts'
import { callbackUrlProblem, hostOf } from './address.ts'
import { createFollow, type Hop } from './follow.ts'
import { createRequests, failed, type RequestOptions } from './request.ts'
import { createSecureRequests } from './secure.ts'

/** Milliseconds for an attempt, from the wait for a slot to the status line, if it has no other timeout. */
export const DEADLINE_MS = 2000
/** How much shorter than that the wait for a slot is: one that another timeout frees would leave no time to use it. */
const SLOT_MARGIN_MS = 100
export const SLOT_TIMEOUT_MS = DEADLINE_MS - SLOT_MARGIN_MS

/**
 * Makes the real Send. Its guarantees beyond those of the port:
 * - A request is written at most once, but for one that `repeats` names. A broken connection is a failed attempt and is
 *   never retried silently. The next attempt gets a new connection.
 * - It resolves as soon as the status line has arrived. Reading the body ends at ANSWER_BYTES, at ANSWER_PIECES, and at
 *   the same deadline. The body is discarded, unless the response is to be kept.
 * - `response_time` starts when the request gets its slot. It is null when no connection was established,
 *   because nothing was sent then.
 * - The receivers of an account take slots and processor time of that account only.
 */
export function createSend(options: RequestOptions) {
  const plain = createRequests(options)
  const secure = createSecureRequests(options)
  const takeSlot = createTakeSlot()

  const sendOnce = async (hop: Hop): Promise<AttemptResult> => {
    const { url: target, timeout = DEADLINE_MS, account } = hop
    const started = performance.now()
    const url = URL.parse(target)
    if (url === null || callbackUrlProblem(target, options.allowed))
      return failed('address refused', null)
    const owner = account ? ownerOf(account) : ''
    const slot = takeSlot(owner, hostOf(url), timeout - SLOT_MARGIN_MS)
    // No `await` for a free slot: the event loop may be busy, and that time would count as a wait.
    const release = slot instanceof Promise ? await slot : slot
    if (release === undefined) return failed('timeout', null)
    const left = started + timeout - performance.now()
    return url.protocol === 'https:'
      ? secure.request(owner, hop, left, release)
      : plain.request(hop, left, release)
  }

  /** Ends all connections, including those in use. */
  const close = () => {
    plain.close()
    secure.close()
  }
  const follow = createFollow(sendOnce)
  return Object.assign((post: Post & { account?: Account }) => follow(post), { close })
}

/** A slot of the account at the host, and then one of the account. */
function createTakeSlot() {
  const takeAtHost = createSlots(DELIVERIES_TO_HOST, Infinity)
  const takeOfAccount = createSlots(DELIVERIES_OF_ACCOUNT, DELIVERIES)

  async function wait(
    owner: string,
    ms: number,
    atHost: ReleaseSlot | Promise<ReleaseSlot | undefined>,
  ): Promise<ReleaseSlot | undefined> {
    const began = performance.now()
    const leave = await atHost
    if (!leave) return undefined
    const release = await takeOfAccount(owner, Math.max(1, ms - (performance.now() - began)))
    if (!release) leave()
    return release && both(leave, release)
  }

  const both = (one: ReleaseSlot, other: ReleaseSlot) => () => {
    one()
    other()
  }

  return (owner: string, host: string, ms: number) => {
    const atHost = takeAtHost(`${host} ${owner}`, ms)
    if (atHost instanceof Promise) return wait(owner, ms, atHost)
    const release = takeOfAccount(owner, ms)
    return release instanceof Promise
      ? release.then(free => (free ? both(atHost, free) : void atHost()))
      : both(atHost, release)
  }
}
