/** Attacks of one account on a service, and measurements of the service for another account. */
import assert from 'node:assert/strict'
import { type Client, createClient } from './client.ts'
import { tempDatabase } from './folders.ts'
import { createPostgresDatabase } from './postgres.ts'
import { type Probed, startProbe } from './probe-process.ts'
import { type FarthingProcess, startProcess } from './process.ts'

const FARTHING_API_KEY = 'key-of-the-watched-account'
const ATTACKER = 'key-of-the-attacking-account'

/** `api` is the client of the attacking account, `other` that of the watched account. */
export type Attacked = { service: FarthingProcess; api: Client; other: Client }

export type Attack = {
  /** The DATABASE_URL of the service; a new SQLite file if undefined. */
  url?: () => Promise<string> | string
  env?: Record<string, string>
  wrapper?: string[]
  /** Makes data before the watch begins. */
  fill?: (attacked: Attacked) => Promise<unknown>
  /** Returns a sentence on the result. Throws if the result is wrong. */
  run: (attacked: Attacked) => Promise<string>
  end?: () => Promise<unknown>
  creates?: boolean
  /** The largest values that the watch may measure. */
  bars: Partial<Record<'silence' | 'stranger' | 'create' | 'p99' | 'memory', number>>
  /** Requests of the watch may fail. */
  mayFail?: true
}

/** Returns a line with the measurements, and whether they keep all bars. */
async function watch(attack: Attack) {
  const { url = tempDatabase, fill, end, creates = false, bars, mayFail = false } = attack
  const accounts = { FARTHING_API_KEY, FARTHING_API_KEYS: `attacker=${ATTACKER}` }
  const settings = { FARTHING_CALLBACK_HOSTS: 'localhost', FARTHING_CONTROL: 'true' }
  const DATABASE_URL = await url()
  const env = { DATABASE_URL, ...accounts, ...settings, LOG_LEVEL: 'error', ...attack.env }
  const service = await startProcess({ env, wrapper: attack.wrapper ?? [] })
  try {
    const clientOf = (key: string) => createClient([service.baseUrl], key)
    const at = { service, api: clientOf(ATTACKER), other: clientOf(FARTHING_API_KEY) }
    await fill?.(at)
    const probe = await startProbe(service, FARTHING_API_KEY, creates)
    const said = await attack.run(at).catch(error => `failed: ${error.cause ?? error}`)
    const seen = await probe.stop()
    const line = `${new URL(DATABASE_URL).protocol} ${said}; ${sentence(seen)}`
    const isHeld =
      !said.startsWith('failed') &&
      (mayFail || Object.keys(seen.failed).length === 0) &&
      Object.entries(bars).every(([what, most]) => seen[what as keyof typeof bars] <= most)
    return { line, isHeld }
  } finally {
    await service.kill()
    await end?.()
  }
}

const sentence = ({ silence, stranger, create, p99, memory, failed }: Probed): string =>
  `/healthz silent for ${silence} ms at most, a stranger's read ${stranger} ms, create ${create} ms, p99 ${p99} ms, ${memory} MB, failed ${JSON.stringify(failed)}`

export type Attacks = Record<string, Attack>

export const onBoth = (name: string, attack: Attack): Attacks => ({
  [name]: attack,
  [`${name}, on PostgreSQL`]: { ...attack, url: () => createPostgresDatabase() },
})

/** Runs attacks one after another and prints a line about each. Throws with the lines of all that broke a bar. */
export async function attackAll(attacks: Attacks): Promise<string> {
  const lines: string[] = []
  const faults: string[] = []
  for (const [name, attack] of Object.entries(attacks)) {
    const { line, isHeld } = await watch(attack)
    lines.push(`${name}: ${line}`)
    console.log(lines.at(-1))
    if (!isHeld) faults.push(`${name}: ${line}`)
  }
  assert.deepEqual(faults, [])
  return lines.join('; ')
}
