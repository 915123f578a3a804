/** C11: starts and stops, accounts and resets leave nothing behind. */
import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { startFarthing } from '../../src/testing/library.ts'
import type { Farthing } from '../../src/testing/public.d.ts'
import type { Job } from './run.ts'

const MOST_GROWTH = 10 * 1024 * 1024

type Footprint = { heap: number; resident: number; descriptors: number; resources: string }

async function footprint(): Promise<Footprint> {
  await pause(200)
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return {
    heap: heapUsed,
    resident: rss,
    descriptors: readdirSync('/proc/self/fd').length,
    resources: process.getActiveResourcesInfo().sort().join(),
  }
}

/** Compares the end with a tenth of the way, by when everything has its usual size. */
async function repeat(name: string, times: number, work: () => Promise<unknown>): Promise<string> {
  let early: Footprint | undefined
  for (let done = 1; done <= times; done++) {
    await work()
    if (done === Math.ceil(times / 10)) early = await footprint()
  }
  const late = await footprint()
  if (!early) throw new Error('there is at least one round')
  const grown = (key: 'heap' | 'resident') => late[key] - (early?.[key] ?? 0)
  const [heap, resident] = [grown('heap'), grown('resident')]
  const line = `${times} ${name}: heap ${mb(heap)}, resident ${mb(resident)}`
  const isSame = late.descriptors <= early.descriptors && late.resources === early.resources
  if (heap > MOST_GROWTH || resident > MOST_GROWTH || !isSame)
    throw new Error(`${line}; ${JSON.stringify({ early, late })}`)
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
    const { setFlagsFromString } = await import('node:v8')
    setFlagsFromString('--expose-gc')
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
