import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Listened, listenThroughBalancer } from '../support/listened.ts'
import type { Job } from './run.ts'

/** Milliseconds that a listener may add to 99 of 100 requests that cause a message. */
const P99 = 150

export const job: Job = {
  title:
    'Messages through farthing listen, behind a balancer with two instances, and behind one that ends requests after 15 s',
  async run({ scale }) {
    const many = Math.ceil(1_000 * scale)
    const busy = await listenThroughBalancer({ count: many, clients: 2 })
    // Each message comes shortly before or after the end of a request that waits for it.
    let rounds = 0
    const pause = () => sleep(14_600 + 200 * (rounds++ % 5))
    const few = Math.ceil(10 * scale)
    const cut = await listenThroughBalancer({ count: few, clients: 1, cutAfter: 15_000, pause })
    const said = `${sentence(busy, many)}. With the end after 15 s: ${sentence(cut, few)}`
    for (const [{ arrived, different }, count] of [
      [busy, many],
      [cut, few],
    ] as const)
      assert.deepEqual({ arrived, different }, { arrived: count, different: count }, said)
    assert.ok(quantile(busy.times, 0.99) - quantile(busy.directTimes, 0.99) < P99, said)
    return said
  },
}

function sentence({ arrived, different, times, directTimes }: Listened, count: number): string {
  const [p50, p99, most] = [0.5, 0.99, 1].map(share => quantile(times, share))
  const [directP50, directP99] = [0.5, 0.99].map(share => quantile(directTimes, share))
  return `${different} of ${count} messages arrived, ${arrived - different} twice; p50 ${p50} ms, p99 ${p99} ms, at most ${most} ms; in turn without listen p50 ${directP50} ms, p99 ${directP99} ms`
}

const quantile = (ascending: number[], share: number): number =>
  Math.round(ascending[Math.ceil(ascending.length * share) - 1] ?? 0)
