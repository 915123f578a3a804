/** P7: the time from the start of the process to its first payment. P8: its memory then. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from './load.ts'
import { type Bench, type Figure, median, round } from './measure.ts'
import { expect, newPayment, post } from './requests.ts'
import { newFolder, removeFolder, startFarthing } from './servers.ts'

/** The first round fills the compile cache, so the median is that of later starts. */
export const ROUNDS = 9

/** Milliseconds after which the memory of an idle service is read. */
export const IDLE = 2_000

export async function start({ step }: Bench): Promise<Figure[]> {
  const bare: number[] = []
  const first: number[] = []
  const rss: number[] = []
  step('P7: starting, from nothing to the first payment')
  for (let i = 0; i < ROUNDS; i++) {
    bare.push(await timeOfBareNode())
    const { ms, farthing, stop } = await startAndPay()
    first.push(ms)
    if (i === ROUNDS - 1) await pause(IDLE)
    rss.push(farthing.rss())
    await stop()
  }
  const [value, floor] = [round(median(first)), round(median(bare))]
  const limit = 3 * floor + 250
  const idle = rss.at(-1) ?? 0
  return [
    {
      figure: 'P7',
      what: 'from the start in an empty folder to the first 201',
      ...{ value, unit: 'ms', floor, against: 'node -e 0', ratio: round(value / floor, 2) },
      target: `<= 3 times node -e 0 plus 250 ms, here ${round(limit)} ms`,
      met: value <= limit,
      details: { slowest: round(Math.max(...first)) },
    },
    {
      figure: 'P8',
      what: 'resident memory when idle, two seconds after the first payment',
      ...{ value: idle, unit: 'MB', rows: 1, rss: idle },
      target: '<= 100 MB',
      met: idle <= 100,
    },
  ]
}

/** Starts the service in an empty folder. `ms`: until the first 201. */
export async function startAndPay(checkout?: string) {
  const folder = newFolder()
  const began = performance.now()
  const database = `sqlite:${join(folder, 'farthing.db')}`
  const farthing = await startFarthing({ database, checkout })
  const { send, close } = await connect(farthing.port)
  expect(await send(post('/v1/payments', newPayment())), 201)
  const ms = performance.now() - began
  close()
  return {
    ...{ ms, farthing },
    async stop() {
      await farthing.stop()
      removeFolder(folder)
    },
  }
}

async function timeOfBareNode(): Promise<number> {
  const began = performance.now()
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
  return performance.now() - began
}
