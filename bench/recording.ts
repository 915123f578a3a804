/** The cost of the recorder: the same service with and without the console, in turn. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { newFolder, removeFolder } from './folders.ts'
import { connect, load, percentile, type Work } from './load.ts'
import {
  type Bench,
  compare,
  type Measured,
  pairsOf,
  type Ratio,
  steadyTurns,
  warmUp,
} from './measure.ts'
import { creating, journey, reading } from './requests.ts'
import { type Server, startFarthing } from './servers.ts'

const AGAINST = 'the same without the console'

/** Starts each program twice on SQLite files, without the console and then with it. */
async function startPairs(programs: string[]) {
  const folder = newFolder()
  const servers: Server[] = []
  for (const program of programs)
    for (const FARTHING_CONSOLE of ['false', 'true'])
      servers.push(
        await startFarthing({
          program,
          database: `sqlite:${join(folder, `${servers.length}.db`)}`,
          env: { FARTHING_CONSOLE },
        }),
      )
  return {
    servers,
    async stop() {
      for (const server of servers) await server.stop()
      removeFolder(folder)
    },
  }
}

const ROWS = 100_000
/** Seconds between two writes of the record under load: each turn has one. */
const WRITTEN_EVERY = 2

/** N1: creates, reads among many payments and journeys, as many as the service can do. */
export async function recordingUnderLoad(
  programs: string[],
  { step, scale }: Bench,
): Promise<Measured[]> {
  const { servers, stop } = await startPairs(programs)
  const pairs = servers.map(server => ({ server, ids: [] as string[] }))
  async function measure(
    what: string,
    least: number,
    warm: number,
    work: (of: { server: Server; ids: string[] }) => Work,
  ): Promise<Measured> {
    step(`N1: ${what}, recorded`)
    const contenders = pairs.map(of => ({ server: of.server, work: work(of) }))
    for (const each of contenders) await warmUp(each, warm * scale)
    const turns = { ...steadyTurns(scale), seconds: WRITTEN_EVERY * scale }
    const ratios = pairsOf(await compare(contenders, turns), AGAINST)
    return { figure: 'N1', what: `${what}, recorded`, bar: { least }, ratios }
  }
  const created = await measure('POST /v1/payments', 0.98, 60_000, ({ ids }) => creating(ids))
  for (const { server, ids } of pairs)
    if (ids.length < ROWS * scale)
      await load(server.port, 64, { units: ROWS * scale - ids.length }, creating(ids))
  const read = await measure(`GET, any of ${ROWS * scale}`, 0.94, 100_000, ({ ids }) =>
    reading(ids.slice(0, ROWS * scale)),
  )
  const journeys = await measure('a whole journey', 0.98, 15_000, () => journey())
  await stop()
  return [created, read, journeys]
}

const A_SECOND = 50
/** Seconds for each server. */
const SECONDS = 10
/** Journeys to warm up. With the journeys of ten seconds they have fewer requests than the recorder admits. */
const WARM = 150

/** N2: a light, steady load (open loop): a journey begins every 20 ms. The servers take turns of a second. */
export async function recordingAtRest(
  programs: string[],
  { step, scale }: Bench,
): Promise<Measured[]> {
  step('N2: journeys, 50 a second, all of them recorded')
  const { servers, stop } = await startPairs(programs)
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
  await stop()
  const ratios = programs.map((_, i): Ratio => {
    const [off = [], on = []] = times.slice(2 * i)
    const [floor, value] = [percentile(off, 0.5), percentile(on, 0.5)]
    return {
      value,
      floor,
      unit: 'ms',
      against: AGAINST,
      p50: value,
      p99: percentile(on, 0.99),
    }
  })
  return [
    { figure: 'N2', what: 'a journey, 50 begun a second, recorded', bar: { most: 1.05 }, ratios },
  ]
}
