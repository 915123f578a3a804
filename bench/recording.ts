/** N2: what the recorder adds to journeys under a light, steady load. The same service with and without it, in turn. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { newFolder, removeFolder } from './folders.ts'
import { connect, load, percentile } from './load.ts'
import { type Bench, type Figure, ratioFigure, round } from './measure.ts'
import { journey } from './requests.ts'
import { startFarthing } from './servers.ts'

const A_SECOND = 50
/** Seconds for each server. */
const SECONDS = 10
/** Journeys before. With those of ten seconds they have fewer requests than the recorder admits. */
const WARM = 150

/** An open loop, in which a journey begins every 20 ms. The servers take turns of a second. */
export async function recording({ step, scale }: Bench): Promise<Figure[]> {
  step('N2: journeys, 50 a second, all of them recorded')
  const folder = newFolder()
  const start = (console: boolean) =>
    startFarthing({
      database: `sqlite:${join(folder, `${console}.db`)}`,
      env: { FARTHING_CONSOLE: String(console) },
    })
  const servers = [await start(false), await start(true)]
  const times = servers.map((): number[] => [])
  const work = journey()
  for (const { port } of servers) await load(port, 4, { units: WARM }, work)
  for (let turn = 0; turn < SECONDS * scale; turn++)
    for (const [i, { port }] of servers.entries()) {
      const open = await Promise.all(Array.from({ length: A_SECOND }, () => connect(port)))
      await Promise.all(
        open.map(async ({ send, close }, nth) => {
          await setTimeout((nth * 1_000) / A_SECOND)
          const began = performance.now()
          await work(send)
          times[i]?.push(performance.now() - began)
          close()
        }),
      )
    }
  for (const server of servers) await server.stop()
  removeFolder(folder)
  const [floor = 0, value = 0] = times.map(each => percentile(each, 0.5))
  const measured = { value, floor, unit: 'ms', against: 'the same without the console' }
  return [
    {
      ...ratioFigure('N2', 'a journey, 50 begun a second, recorded', measured, { most: 1.02 }),
      p50: round(value, 2),
      p99: round(percentile(times[1] ?? [], 0.99), 2),
    },
  ]
}
