/** C4: a reset. C8: creations of a test account. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Account } from '../src/testing/public.d.ts'
import { newFolder, removeFolder } from './folders.ts'
import {
  type Bench,
  compare,
  comparedFigure,
  type Figure,
  median,
  ratioFigure,
  steadyTurns,
  warmUp,
} from './measure.ts'
import { loadLibrary } from './package.ts'
import { creating, newPayment } from './requests.ts'
import { startFarthing } from './servers.ts'
import { makeAccounts } from './suite.ts'

const CONNECTIONS = 64
/** Milliseconds after which the record of what came before is written. */
const SETTLED = 500
const ON = { FARTHING_CONTROL: 'true' }

const create = (account: Account) => account.send('POST', '/v1/payments', newPayment())

/** The milliseconds that a reset takes, of an account with many payments and of an empty one, in turn. */
export async function resets({ scale, step }: Bench): Promise<Figure[]> {
  step('C4: resets')
  const farthing = await (await loadLibrary()).startFarthing()
  const [account, other] = [await farthing.account(), await farthing.account()]
  const payments = Math.ceil(100_000 * scale)
  const [full, empty]: [number[], number[]] = [[], []]
  for (let round = 0; round < 3; round++) {
    for (let done = 0; done < payments; done += CONNECTIONS)
      await Promise.all(Array.from({ length: CONNECTIONS }, () => create(account)))
    for (const taken of [full, empty]) {
      await pause(SETTLED)
      await other.reset() // after a pause the first is slower, whatever it resets
      const began = performance.now()
      await account.reset()
      taken.push(performance.now() - began)
    }
  }
  await farthing.stop()
  const measured = { value: median(full), floor: median(empty), unit: 'ms', against: 'of none' }
  return [ratioFigure('C4', `a reset of ${payments} payments`, measured, { most: 1.2 })]
}

/** A test account records every request; the account of FARTHING_API_KEY up to 100 a second. */
export async function testAccounts({ scale, step }: Bench): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [where, least] of [
    ['in memory', 0.7],
    ['in a file', 0.5],
  ] as const) {
    step(`C8: creations with control on, ${where}`)
    const folder = newFolder()
    const start = (name: string, env: Record<string, string>) =>
      startFarthing({
        database:
          where === 'in memory' ? 'sqlite::memory:' : `sqlite:${join(folder, `${name}.db`)}`,
        env,
      })
    const [off, on] = [await start('off', {}), await start('on', ON)]
    const [key] = await makeAccounts(on, 1)
    const contenders = [
      { server: off, work: creating() },
      { server: on, work: creating([], key) },
    ]
    for (const each of contenders) await warmUp(each, 20_000 * scale)
    const { lead: _, ...limit } = steadyTurns(scale / 2)
    const created = await compare(contenders, limit)
    const what = `creations of a test account, ${where}`
    figures.push(comparedFigure('C8', what, created, { against: 'an ordinary one', least }))
    for (const server of [off, on]) await server.stop()
    removeFolder(folder)
  }
  return figures
}
