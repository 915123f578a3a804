/** P11: what one test feels, which waits for each response. P12: many accounts at once, as tests that run side by side. */
import { join } from 'node:path'
import { newFolder, removeFolder } from './folders.ts'
import { connect, type Send, type Work } from './load.ts'
import { type Bench, compare, type Figure, round, warmUp } from './measure.ts'
import { creating, expect, journey, post } from './requests.ts'
import { type Server, startFarthing, startFloor } from './servers.ts'
import { sizesOf } from './single.ts'

/** One connection, a database in memory. The ratios are those of times: to the floor's POST. */
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
  const [base, create, whole] = series
  const figure = (what: string, own: typeof base, most: number, prize: number): Figure => {
    const [p50, p99] = [own?.p50 ?? 0, own?.p99 ?? 0]
    const ratio = round(p50 / (base?.p50 || 1), 2)
    return {
      figure: 'P11',
      what,
      value: p50,
      unit: 'ms',
      floor: base?.p50 ?? 0,
      against: 'the floor, POST',
      ratio,
      p50,
      p99,
      connections: 1,
      target: `ratio <= ${most} (prize: ${prize})`,
      met: ratio <= most,
      details: { ratioOfP99: round(p99 / (base?.p99 || 1), 2) },
    }
  }
  return [
    figure('POST /v1/payments, one after the other, in memory', create, 2.5, 1.8),
    figure('a whole journey, one after the other, in memory', whole, 12, 9),
  ]
}

const ACCOUNTS = 64
const CONNECTIONS = 64

/** With control. The same number of connections, which share one test account or have one each. */
export async function manyAccounts({ step, scale }: Bench): Promise<Figure[]> {
  const folder = newFolder()
  const start = async (count: number) => {
    const server = await startFarthing({
      database: `sqlite:${join(folder, `${count}.db`)}`,
      env: { FARTHING_CONTROL: 'true' },
    })
    return { server, work: inAccounts(await makeAccounts(server, count)) }
  }
  const contenders = [await start(1), await start(ACCOUNTS)]
  step(`P12: journeys in ${ACCOUNTS} accounts at once`)
  for (const each of contenders) await warmUp(each, 10_000 * scale)
  const limit = { connections: CONNECTIONS, seconds: scale / 2 }
  const { series, ratios } = await compare(contenders, limit)
  for (const { server } of contenders) await server.stop()
  removeFolder(folder)
  const [one, many] = series
  const ratio = ratios[1] ?? 0
  return [
    {
      figure: 'P12',
      what: `journeys in ${ACCOUNTS} accounts at once, with control`,
      value: many?.rate ?? 0,
      unit: 'a second',
      floor: one?.rate ?? 0,
      against: 'the same in one account',
      ratio,
      p50: many?.p50 ?? 0,
      p99: many?.p99 ?? 0,
      connections: CONNECTIONS,
      target: 'ratio >= 0.95',
      met: ratio >= 0.95,
    },
  ]
}

/** Makes test accounts. Returns their keys. */
async function makeAccounts({ port }: Server, count: number): Promise<string[]> {
  const { send, close } = await connect(port)
  const keys: string[] = []
  while (keys.length < count) {
    const made = await send(post('/control/accounts'))
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
