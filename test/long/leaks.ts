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
// The service's thread must collect all garbage too, or garbage would count as growth.
setFlagsFromString('--gc-global')

const MOST_GROWTH = 10 * 1024 * 1024
/** The rounds in which code is compiled and pools fill, also in a short run. */
const WARM_UP = 20
/** Closed sockets and freed memory may need a moment. */
const TRIES = 25

type Footprint = Awaited<ReturnType<typeof footprint>>

/** Bytes of memory, file descriptors, and the number of resources of each kind. */
async function footprint() {
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

const countKinds = (resources: string[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(resources, kind => kind)].map(([kind, all]) => [kind, all.length]),
  )

/**
 * The growth from the beginning to the end on the line that fits best: memory that the allocator takes and returns
 * moves a single look by 10 MB.
 */
function growth(looks: number[]): number {
  const middle = (looks.length - 1) / 2
  const sum = (term: (i: number) => number) => looks.reduce((all, _, i) => all + term(i), 0)
  const slope = sum(i => (i - middle) * (looks[i] ?? 0)) / sum(i => (i - middle) * (i - middle))
  return slope * (looks.length - 1)
}

const moreOf = (early: Footprint, late: Footprint): string[] => [
  ...(late.descriptors > early.descriptors ? ['descriptors'] : []),
  ...Object.entries(late.resources)
    .filter(([kind, n]) => n > (early.resources[kind] ?? 0))
    .map(([kind]) => kind),
]

/** Looks after each tenth of the work. After the first tenth all has its usual size. */
async function repeat(name: string, times: number, work: () => Promise<unknown>): Promise<string> {
  for (let i = 0; i < WARM_UP; i++) await work()
  const looks: Footprint[] = []
  for (let tenth = 0; tenth < 10; tenth++) {
    for (let i = 0; i < times / 10; i++) await work()
    looks.push(await footprint())
  }
  const early = looks[0] ?? (await footprint())
  let more = moreOf(early, looks.at(-1) ?? early)
  for (let look = 1; look < TRIES && more.length > 0; look++)
    more = moreOf(early, await footprint())
  const [heap, resident] = [growth(looks.map(l => l.heap)), growth(looks.map(l => l.resident))]
  const line = `${times} ${name}: heap ${mb(heap)}, resident ${mb(resident)}`
  if (heap > MOST_GROWTH || resident > MOST_GROWTH || more.length > 0)
    throw new Error(`${line}; more ${more.join(', ')}: ${JSON.stringify(looks)}`)
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
