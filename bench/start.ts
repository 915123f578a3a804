/** P7: how soon the service is of use, and what it takes then. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from './load.ts'
import { type Bench, type Figure, median, round } from './measure.ts'
import { expect, newPayment, post } from './requests.ts'
import { newFolder, removeFolder, startFarthing } from './servers.ts'

/** The first finds nothing compiled if the source is new; the median is that of a start like any other. */
const ROUNDS = 9

export async function start({ step }: Bench): Promise<Figure[]> {
  const bare: number[] = []
  const first: number[] = []
  const rss: number[] = []
  step('P7: starting, from nothing to the first payment')
  for (let i = 0; i < ROUNDS; i++) {
    bare.push(await timeOfBareNode())
    const folder = newFolder()
    const began = performance.now()
    const farthing = await startFarthing({ database: `sqlite:${join(folder, 'farthing.db')}` })
    const { send, close } = await connect(farthing.port)
    expect(await send(post('/v1/payments', newPayment())), 201)
    first.push(performance.now() - began)
    close()
    if (i === ROUNDS - 1) await pause(2000)
    rss.push(farthing.rss())
    await farthing.stop()
    removeFolder(folder)
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

async function timeOfBareNode(): Promise<number> {
  const began = performance.now()
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
  return performance.now() - began
}
