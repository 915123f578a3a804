/** P7: the time from the start of the process to its first payment. P8: its memory then. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { newFolder, removeFolder } from './folders.ts'
import { connect } from './load.ts'
import { type Bench, type Figure, median, ratioFigure } from './measure.ts'
import { packaged } from './package.ts'
import { expect, newPayment, post } from './requests.ts'
import { type Server, startFarthing, startLeast, timeOf } from './servers.ts'

/** The first round fills the compile cache, so the median is that of later starts. */
export const ROUNDS = 9

/** Milliseconds after which the memory of an idle service is read. */
export const IDLE = 2_000

const MOST_OF_NODE = 4.3
const MOST_MEMORY = 1.4

export async function start({ step, scale }: Bench): Promise<Figure[]> {
  step('P7: building the package')
  packaged()
  const [bare, times]: [number[], number[]] = [[], []]
  const [least, idle]: [number[], number[]] = [[], []]
  step('P7 and P8: starting, from nothing to the first payment')
  for (let i = 0; i < Math.max(3, ROUNDS * scale); i++) {
    bare.push(await timeOf(['-e', '0']))
    const { ms, farthing, stop } = await startAndPay()
    times.push(ms)
    const reference = await startLeast()
    await pay(reference)
    await pause(IDLE)
    least.push(reference.rss())
    idle.push(farthing.rss())
    await reference.stop()
    await stop()
  }
  const time = { value: median(times), floor: median(bare), unit: 'ms' }
  const memory = { value: median(idle), floor: median(least), unit: 'MB' }
  return [
    ratioFigure(
      'P7',
      'from the start in an empty folder to the first 201',
      { ...time, against: 'node -e 0' },
      { most: MOST_OF_NODE },
    ),
    {
      ...ratioFigure(
        'P8',
        'resident memory when idle, two seconds after the first payment',
        { ...memory, against: 'a bare HTTP server with a thread and SQLite' },
        { most: MOST_MEMORY },
      ),
      rss: memory.value,
    },
  ]
}

/** Starts the service in an empty folder. `ms`: until the first 201. */
export async function startAndPay(program?: string) {
  const folder = newFolder()
  const began = performance.now()
  const database = `sqlite:${join(folder, 'farthing.db')}`
  const farthing = await startFarthing({ database, program })
  await pay(farthing)
  const ms = performance.now() - began
  return {
    ms,
    farthing,
    async stop() {
      await farthing.stop()
      removeFolder(folder)
    },
  }
}

async function pay({ port }: Server): Promise<void> {
  const { send, close } = await connect(port)
  expect(await send(post('/v1/payments', newPayment())), 201)
  close()
}
