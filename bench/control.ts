/** C4: a reset. C8: creations of a test account. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Account } from '../src/testing/public.d.ts'
import { newFolder, removeFolder } from './folders.ts'
import {
  type Bench,
  type Contender,
  compare,
  type Measured,
  median,
  pairsOf,
  type Ratio,
  steadyTurns,
  warmUp,
} from './measure.ts'
import { loadLibrary } from './package.ts'
import { creating, newPayment } from './requests.ts'
import { startFarthing } from './servers.ts'
import { makeAccounts } from './suite.ts'

const CONNECTIONS = 64
/** Milliseconds after which the record of the earlier requests is written. */
const SETTLED = 500
const ON = { FARTHING_CONTROL: 'true' }

const create = (account: Account) => account.send('POST', '/v1/payments', newPayment())

/** The milliseconds that a reset takes, of an account with many payments and of an empty one, in turn. */
export async function resets(programs: string[], { scale, step }: Bench): Promise<Measured[]> {
  step('C4: resets')
  const payments = Math.ceil(100_000 * scale)
  const services = []
  for (const program of programs) {
    const farthing = await (await loadLibrary(program)).startFarthing()
    const [account, other] = [await farthing.account(), await farthing.account()]
    services.push({ farthing, account, other, full: [] as number[], empty: [] as number[] })
  }
  for (let round = 0; round < 3; round++)
    for (const { account, other, full, empty } of services) {
      for (let done = 0; done < payments; done += CONNECTIONS)
        await Promise.all(Array.from({ length: CONNECTIONS }, () => create(account)))
      for (const taken of [full, empty]) {
        await pause(SETTLED)
        await other.reset() // after a pause the first reset is slower
        const began = performance.now()
        await account.reset()
        taken.push(performance.now() - began)
      }
    }
  for (const { farthing } of services) await farthing.stop()
  const ratios = services.map(
    ({ full, empty }): Ratio => ({
      value: median(full),
      floor: median(empty),
      unit: 'ms',
      against: 'a reset of none',
    }),
  )
  return [{ figure: 'C4', what: `a reset of ${payments} payments`, bar: { most: 1.9 }, ratios }]
}

/** A test account records every request; the account of FARTHING_API_KEY up to 100 a second. */
export async function testAccounts(
  programs: string[],
  { scale, step }: Bench,
): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const where of ['in memory', 'in a file']) {
    step(`C8: creations with control on, ${where}`)
    const folder = newFolder()
    const contenders: Contender[] = []
    for (const program of programs)
      for (const env of [{}, ON]) {
        const file = `sqlite:${join(folder, `${contenders.length}.db`)}`
        const database = where === 'in memory' ? 'sqlite::memory:' : file
        const server = await startFarthing({ program, database, env })
        const [key] = env === ON ? await makeAccounts(server, 1) : []
        contenders.push({ server, work: creating([], key) })
      }
    for (const each of contenders) await warmUp(each, 20_000 * scale)
    const { lead: _, ...limit } = steadyTurns(scale / 2)
    const ratios = pairsOf(await compare(contenders, limit), 'an ordinary one')
    measured.push({
      figure: 'C8',
      what: `creations of a test account, ${where}`,
      bar: { least: 0.4 },
      ratios,
    })
    for (const { server } of contenders) await server.stop()
    removeFolder(folder)
  }
  return measured
}
