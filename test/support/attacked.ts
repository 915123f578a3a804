/** What one account does to a service on purpose, and what another one notices. */
import assert from 'node:assert/strict'
import { type Client, createClient } from './client.ts'
import { type Probed, startProbe } from './probe-process.ts'
import { type FarthingProcess, startProcess } from './process.ts'

const FARTHING_API_KEY = 'key-of-the-watched-account'
const ATTACKER = 'key-of-the-attacking-account'

/** `api` is of the account that attacks, `other` of the one that is watched. */
export type Attacked = { service: FarthingProcess; api: Client; other: Client }

type Options = {
  wrapper?: string[]
  /** What is there before the watch begins. */
  fill?: (attacked: Attacked) => Promise<unknown>
  /** The watch creates payments too. */
  creates?: boolean
}

/** `said`: what came of the attack. `isAnswered`: it did not fail, and each request of the watch was answered. */
export type Seen = Probed & { said: string; line: string; isAnswered: boolean }

export async function attacked(
  env: Record<string, string>,
  attack: (attacked: Attacked) => Promise<string>,
  { wrapper = [], fill, creates = false }: Options = {},
): Promise<Seen> {
  const accounts = { FARTHING_API_KEY, FARTHING_API_KEYS: `attacker=${ATTACKER}` }
  const settings = { FARTHING_CALLBACK_HOSTS: 'localhost', FARTHING_CONTROL: 'true' }
  const all = { ...accounts, ...settings, LOG_LEVEL: 'error', ...env }
  const service = await startProcess({ env: all, wrapper })
  try {
    const clientOf = (key: string) => createClient([service.baseUrl], key)
    const at = { service, api: clientOf(ATTACKER), other: clientOf(FARTHING_API_KEY) }
    await fill?.(at)
    const probe = await startProbe(service, FARTHING_API_KEY, { creates })
    const said = await attack(at).catch(error => `failed: ${error.cause ?? error}`)
    const probed = await probe.stop()
    const isAnswered = !said.startsWith('failed') && Object.keys(probed.failed).length === 0
    return { ...probed, said, line: `${said}; ${sentence(probed)}`, isAnswered }
  } finally {
    await service.kill()
  }
}

const sentence = ({ silence, stranger, create, p99, memory, failed }: Probed): string =>
  `/healthz silent for ${silence} ms at most, a stranger's read ${stranger} ms, create ${create} ms, p99 ${p99} ms, ${memory} MB, failed ${JSON.stringify(failed)}`

/** Runs attacks one after another and prints what each did. Throws with those that did not hold their bars. */
export async function runAttacks(
  attacks: [name: string, attack: () => Promise<{ line: string; isHeld: boolean }>][],
): Promise<string> {
  const lines: string[] = []
  const late: string[] = []
  for (const [name, attack] of attacks) {
    const { line, isHeld } = await attack()
    lines.push(`${name}: ${line}`)
    console.log(lines.at(-1))
    if (!isHeld) late.push(`${name}: ${line}`)
  }
  assert.deepEqual(late, [])
  return lines.join('; ')
}
