/** C11: starts and stops, accounts and resets leave nothing behind. */
import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startFarthing } from '../../src/testing/library.ts'
import type { Farthing } from '../../src/testing/public.d.ts'
import type { Job } from './run.ts'

// Only contexts that are made after the flag was set have the function.
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const MOST_GROWTH = 10 * 1024 * 1024
/** The rounds in which code is compiled and pools fill, also in a short run. */
const WARM_UP = 20
/** Closed sockets and freed memory may need a moment. */
const LOOKS = 25

/** Bytes, file descriptors, and how many there are of each kind of resource. */
type Footprint = {
  heap: number
  resident: number
  descriptors: number
  resources: Record<string, number>
}

async function footprint(): Promise<Footprint> {
  await pause(200)
  collectGarbage()
  const { heapUsed, rss } = process.memoryUsage()
  return {
    heap: heapUsed,
    resident: rss,
    descriptors: readdirSync('/proc/self/fd').length,
    resources: countKinds(process.getActiveResourcesInfo()),
  }
}

function countKinds(resources: string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const kind of resources) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** What there is more of than there may be. */
function excess(early: Footprint, late: Footprint): string[] {
  const kinds = Object.entries(late.resources)
  return [
    ...(['heap', 'resident'] as const).filter(key => late[key] - early[key] > MOST_GROWTH),
    ...(late.descriptors > early.descriptors ? ['descriptors'] : []),
    ...kinds.filter(([kind, n]) => n > (early.resources[kind] ?? 0)).map(([kind]) => kind),
  ]
}

/** Compares the end with a tenth of the way, by when everything has its usual size. */
async function repeat(name: string, times: number, work: () => Promise<unknown>): Promise<string> {
  for (let i = 0; i < WARM_UP + times / 10; i++) await work()
  const early = await footprint()
  for (let i = 0; i < times; i++) await work()
  let late = await footprint()
  for (let look = 1; look < LOOKS && excess(early, late).length > 0; look++)
    late = await footprint()
  const line = `${times} ${name}: heap ${mb(late.heap - early.heap)}, resident ${mb(late.resident - early.resident)}`
  const over = excess(early, late)
  if (over.length > 0)
    throw new Error(`${line}; more ${over.join(', ')}: ${JSON.stringify({ early, late })}`)
  return line
}

const mb = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`

async function resetFull(farthing: Farthing): Promise<void> {
  for (let i = 0; i < 10; i++) await farthing.payment()
  await farthing.reset()
}

export const job: Job = {
  title: 'Starts, accounts and resets leave nothing behind',
  async run({ scale }) {
    const times = (most: number) => Math.max(20, Math.ceil(most * scale))
    const starts = await repeat('starts and stops', times(1_000), async () => {
      await using farthing = await startFarthing()
      await farthing.payment()
    })
    await using farthing = await startFarthing()
    const accounts = await repeat('accounts', times(10_000), async () => {
      await using account = await farthing.account()
      await account.payment()
    })
    const resets = await repeat('resets', times(10_000), () => resetFull(farthing))
    return [starts, accounts, resets].join('; ')
  },
}
