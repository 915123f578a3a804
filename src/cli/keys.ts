import {
  checkAccountName,
  createKey,
  DEFAULT_ACCOUNT,
  listKeys,
  revokeKey,
} from '../accounts/store.ts'
import type { Config } from '../config.ts'
import { openDatabase } from '../database/open.ts'
import { refuseMemory, requireFile } from '../database/sqlite/file.ts'
import { createNewId } from '../ids.ts'
import type { Database } from '../ports.ts'
import { iso } from '../time.ts'

export const KEYS_HELP = `API keys. Each belongs to one account and sees only what that account has made.

Usage:
  farthing keys create [--account NAME]   make a key and print it once (account "default" if not given)
  farthing keys list                      id, account, when it was made, when it was revoked
  farthing keys revoke ID                 stop a key; a running service refuses it within a second

DATABASE_URL names the database, as for the service itself; the service may be running.
`

/** What may stand behind each verb: how many words, and how that is written. */
const verbs = new Map([
  ['create', { words: 0, usage: 'create [--account NAME]' }],
  ['list', { words: 0, usage: 'list' }],
  ['revoke', { words: 1, usage: 'revoke ID' }],
])

/** Runs `farthing keys ...` and answers the exit code; `note` is for people, beside what is printed. */
export async function keysCommand(
  [verb = '', ...words]: string[],
  options: { account?: string | undefined },
  config: Config,
  print: (text: string) => number,
  note: (text: string) => void,
): Promise<number> {
  const known = verbs.get(verb)
  if (!known) throw new Error(`unknown keys command: ${verb} (farthing keys --help)`)
  if (words.length !== known.words || (options.account !== undefined && verb !== 'create'))
    throw new Error(`usage: farthing keys ${known.usage} (farthing keys --help)`)
  const { account = DEFAULT_ACCOUNT } = options
  checkAccountName(account)
  refuseMemory(config.database)
  if (verb !== 'create') requireFile(config.database)
  const database = await openDatabase(config.database, {
    onUnknownOutcome: () => {},
    onConnectionError: () => {},
  })
  try {
    if (verb === 'list') return print(table(await listKeys(database)))
    if (verb === 'create') {
      const ports = { database, clock: Date.now, newId: createNewId() }
      const { key, key_id } = await createKey(ports, account)
      note(`The key ${key_id} of the account ${account}, shown only now:\n`)
      return print(key)
    }
    return await revoke(database, words[0] ?? '', print)
  } finally {
    await database.close()
  }
}

async function revoke(
  database: Database,
  key_id: string,
  print: (text: string) => number,
): Promise<number> {
  if (!(await revokeKey(database, key_id, Date.now())))
    throw new Error(`no key that still works has the id ${key_id} (farthing keys list)`)
  return print(`revoked ${key_id}`)
}

function table(keys: Awaited<ReturnType<typeof listKeys>>): string {
  if (keys.length === 0) return 'there are no keys'
  const date = (time: number | null) => (time === null ? '-' : iso(time))
  const rows = keys.map(key => [key.key_id, date(key.created), date(key.revoked), key.account])
  return [['id', 'created', 'revoked', 'account'], ...rows]
    .map(([id = '', created = '', revoked = '', account = '']) =>
      [id.padEnd(26), created.padEnd(24), revoked.padEnd(24), account].join('  ').trimEnd(),
    )
    .join('\n')
}
