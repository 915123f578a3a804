/** P11: one test, which waits for each response. P12: many accounts at once, like tests that run side by side. */
import { join } from 'node:path'
import { newFolder, removeFolder } from './folders.ts'
import { connect, type Send, type Work } from './load.ts'
import {
  type Bench,
  type Contender,
  compare,
  type Figure,
  type Measured,
  pairsOf,
  ratioFigure,
  warmUp,
} from './measure.ts'
import { creating, expect, journey, post } from './requests.ts'
import { type Server, startFarthing, startFloor } from './servers.ts'
import { sizesOf } from './single.ts'

/** One connection, a database in memory. The ratios compare times with that of the floor's POST. */
export async function oneTest({ step, scale }: Bench): Promise<Figure[]> {
  const farthing = await startFarthing({ database: 'sqlite::memory:' })
  const floor = await startFloor(await sizesOf(farthing))
  const contenders = [
    { server: floor, work: creating() },
    { server: farthing, work: creating() },
    { server: farthing, work: journey() },
  ]
  step('P11: one request after the other')
  for (const each of contenders) await warmUp(each, 10_000 * scale)
  const { series } = await compare(contenders, { connections: 1, seconds: scale / 2 })
  await Promise.all([farthing.stop(), floor.stop()])
  const [base, ...own] = series
  const floorTime = base?.p50 ?? 0
  return BARS.map(({ what, ...bar }, i): Figure => {
    const { p50 = 0, p99 = 0 } = own[i] ?? {}
    const measured = { value: p50, floor: floorTime, unit: 'ms', against: 'the floor, POST' }
    return { ...ratioFigure('P11', what, measured, bar), p50, p99 }
  })
}

const BARS = [
  { what: 'POST /v1/payments, one after the other, in memory', most: 2.5, prize: 1.8 },
  { what: 'a whole journey, one after the other, in memory', most: 12, prize: 9 },
]

const ACCOUNTS = 64
const CONNECTIONS = 64

/** Control is on. The same number of connections, which share one test account or have one each. */
export async function manyAccounts(
  programs: string[],
  { step, scale }: Bench,
): Promise<Measured[]> {
  const folder = newFolder()
  const contenders: Contender[] = []
  for (const program of programs)
    for (const count of [1, ACCOUNTS]) {
      const server = await startFarthing({
        program,
        database: `sqlite:${join(folder, `${contenders.length}.db`)}`,
        env: { FARTHING_CONTROL: 'true' },
      })
      contenders.push({ server, work: inAccounts(await makeAccounts(server, count)) })
    }
  step(`P12: journeys in ${ACCOUNTS} accounts at once`)
  for (const each of contenders) await warmUp(each, 10_000 * scale)
  const limit = { connections: CONNECTIONS, seconds: scale / 2 }
  const journeys = await compare(contenders, limit)
  for (const { server } of contenders) await server.stop()
  removeFolder(folder)
  const what = `journeys in ${ACCOUNTS} accounts at once, with control`
  const ratios = pairsOf(journeys, 'the same in one account')
  return [{ figure: 'P12', what, bar: { least: 0.78 }, ratios }]
}

export async function makeAccounts(
  { port }: Server,
  count: number,
  fields: { behaviour?: string } = {},
): Promise<string[]> {
  const { send, close } = await connect(port)
  const keys: string[] = []
  while (keys.length < count) {
    const made = await send(post('/control/accounts', fields))
    expect(made, 201)
    keys.push(JSON.parse(made.body).key)
  }
  close()
  return keys
}

/** Each connection makes journeys in one account. */
function inAccounts(keys: string[]): Work {
  const journeys = keys.map(key => journey(undefined, key))
  const chosen = new WeakMap<Send, Work>()
  let next = 0
  return async send => {
    const work = chosen.get(send) ?? journeys[next++ % journeys.length]
    if (!work) throw new Error('there are no accounts')
    chosen.set(send, work)
    await work(send)
  }
}
