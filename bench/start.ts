/** P7: the time from the start of the process to its first payment. P8: its memory then. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { newFolder, removeFolder } from './folders.ts'
import { connect } from './load.ts'
import { type Bench, type Figure, median, round } from './measure.ts'
import { buildExecutable, packaged } from './package.ts'
import { expect, newPayment, post } from './requests.ts'
import { startFarthing, timeOf } from './servers.ts'

/** The first round fills the compile cache, so the median is that of later starts. */
export const ROUNDS = 9

/** Milliseconds after which the memory of an idle service is read. */
export const IDLE = 2_000

/** Milliseconds beyond those of bare Node, and MB. */
const MOST_BEYOND = 150
const MOST_IDLE = 75

export async function start({ step }: Bench): Promise<Figure[]> {
  step('P7: building the package and the executable')
  const executable = buildExecutable()
  const programs = [[process.execPath, packaged()], [executable]] as const
  const bare: number[] = []
  const times: number[][] = [[], []]
  const rss: number[] = []
  step('P7: starting, from nothing to the first payment')
  for (let i = 0; i < ROUNDS; i++) {
    bare.push(await timeOf(['-e', '0']))
    for (const [which, command] of programs.entries()) {
      const { ms, farthing, stop } = await startAndPay(command)
      times[which]?.push(ms)
      if (i === ROUNDS - 1) {
        await pause(IDLE)
        rss.push(farthing.rss())
      }
      await stop()
    }
  }
  const floor = round(median(bare))
  const megabytes = Math.round(statSync(executable).size / 1e6)
  const [inNode = [], alone = []] = times
  const [idle = 0, idleSingle = 0] = rss
  return [
    starting('from the start in an empty folder to the first 201', inNode, floor, true),
    starting(`the same by the single executable of ${megabytes} MB`, alone, floor, false),
    {
      figure: 'P8',
      what: 'resident memory when idle, two seconds after the first payment',
      value: idle,
      unit: 'MB',
      rows: 1,
      rss: idle,
      target: `<= ${MOST_IDLE} MB`,
      met: idle <= MOST_IDLE,
    },
    {
      figure: 'P8',
      what: 'the same by the single executable',
      value: idleSingle,
      unit: 'MB',
      rows: 1,
      rss: idleSingle,
      target: '',
      met: null,
    },
  ]
}

function starting(what: string, times: number[], floor: number, hasTarget: boolean): Figure {
  const value = round(median(times))
  return {
    figure: 'P7',
    what,
    value,
    unit: 'ms',
    floor,
    against: 'node -e 0',
    ratio: round(value / floor, 2),
    target: hasTarget
      ? `<= node -e 0 plus ${MOST_BEYOND} ms, here ${round(floor + MOST_BEYOND)} ms`
      : '',
    met: hasTarget ? value <= floor + MOST_BEYOND : null,
    details: { slowest: round(Math.max(...times)) },
  }
}

/** Starts the service in an empty folder. `ms`: until the first 201. */
export async function startAndPay(command?: readonly [string, ...string[]]) {
  const folder = newFolder()
  const began = performance.now()
  const database = `sqlite:${join(folder, 'farthing.db')}`
  const farthing = await startFarthing({ database, command })
  const { send, close } = await connect(farthing.port)
  expect(await send(post('/v1/payments', newPayment())), 201)
  const ms = performance.now() - began
  close()
  return {
    ms,
    farthing,
    async stop() {
      await farthing.stop()
      removeFolder(folder)
    },
  }
}
