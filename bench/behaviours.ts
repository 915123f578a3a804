/** P14: the behaviour govuk-pay compared with specification. */
import { join } from 'node:path'
import { newFolder, removeFolder } from './folders.ts'
import type { Work } from './load.ts'
import { type Bench, type Contender, compare, type Measured, pairsOf, warmUp } from './measure.ts'
import { creating, journey, reading } from './requests.ts'
import { type Server, startFarthing } from './servers.ts'
import { makeAccounts } from './suite.ts'

/** So many, because under govuk-pay an account makes at most 15 payments a second. */
const ACCOUNTS = 1_000
const MOST_READ = 10_000

/** Control is on. Both services have this many test accounts, which take turns. */
export async function behaviours(programs: string[], { step, scale }: Bench): Promise<Measured[]> {
  const folder = newFolder()
  const sides: { server: Server; accounts: Account[] }[] = []
  for (const program of programs)
    for (const behaviour of ['specification', 'govuk-pay']) {
      const server = await startFarthing({
        program,
        database: `sqlite:${join(folder, `${sides.length}.db`)}`,
        env: { FARTHING_CONTROL: 'true' },
      })
      const keys = await makeAccounts(server, ACCOUNTS, { behaviour })
      sides.push({ server, accounts: keys.map(key => ({ key, ids: [] })) })
    }
  async function measure(what: string, warm: number, work: (account: Account) => Work) {
    step(`P14: ${what}`)
    const contenders = sides.map(
      ({ server, accounts }): Contender => ({ server, work: inTurn(accounts.map(work)) }),
    )
    for (const each of contenders) await warmUp(each, warm * scale)
    const compared = await compare(contenders, { connections: 64, seconds: scale / 2 })
    const ratios = pairsOf(compared, 'the same under specification')
    return { figure: 'P14', what: `${what} under govuk-pay`, bar: { least: 0.9 }, ratios }
  }
  const measured = [
    await measure('POST /v1/payments', 20_000, ({ key, ids }) => creating(ids, key)),
    await measure(`GET, any of ${MOST_READ}`, 20_000, ({ key, ids }) =>
      reading(ids.slice(0, MOST_READ / ACCOUNTS), key),
    ),
    await measure('a whole journey', 5_000, ({ key }) => journey(undefined, key)),
  ]
  for (const { server } of sides) await server.stop()
  removeFolder(folder)
  return measured
}

type Account = { key: string; ids: string[] }

function inTurn(works: Work[]): Work {
  let next = 0
  return async send => {
    await works[next++ % works.length]?.(send)
  }
}
