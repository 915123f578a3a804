import type { Config } from '../core/config.ts'
import { createNewId } from '../core/ids.ts'
import { createTime, iso } from '../core/time.ts'
import { type ApiKey, createKey, listKeys, revokeKey } from '../platform/accounts/store.ts'
import { useDatabase } from './database.ts'
import { asTypedHere } from './invocation.ts'
import { note, print, printJson } from './output.ts'

/** `farthing keys create`: only the key goes to standard output, so that a script can read it. */
export async function create(
  config: Config,
  options: { account: string; create?: boolean; json?: boolean },
): Promise<void> {
  const { account } = options
  const { key, key_id, isNewAccount } = await useDatabase(config.database, options, database =>
    createKey({ database, time: createTime(), newId: createNewId() }, account),
  )
  if (options.json) return printJson({ key_id, account, key })
  if (isNewAccount) note(`The account ${account} is new.`)
  note(`The key ${key_id} of the account ${account}, shown only now:`)
  print(key)
}

/** `farthing keys list`: all keys of all accounts, oldest first. */
export async function list(config: Config, { json }: { json?: boolean }): Promise<void> {
  const keys = await useDatabase(config.database, undefined, listKeys)
  if (config.apiKey)
    note('The key in FARTHING_API_KEY is not listed: it is in the settings of the service.')
  if (json) return printJson({ keys: keys.map(presentKey) })
  if (keys.length === 0) return print('There are no keys.')
  const date = (time: number | null) => (time === null ? '-' : iso(time))
  const rows = keys.map(key => [key.key_id, date(key.created), date(key.revoked), key.account])
  for (const [id = '', created = '', revoked = '', account = ''] of [
    ['id', 'created', 'revoked', 'account'],
    ...rows,
  ])
    print(`${id.padEnd(26)}  ${created.padEnd(24)}  ${revoked.padEnd(24)}  ${account}`)
}

const presentKey = ({ created, revoked, ...key }: ApiKey) => ({
  ...key,
  created: iso(created),
  revoked: revoked === null ? null : iso(revoked),
})

/** `farthing keys revoke`: throws if there is no active key with this id. */
export async function revoke(
  config: Config,
  key_id: string,
  { json }: { json?: boolean },
): Promise<void> {
  const revoked = await useDatabase(config.database, undefined, database =>
    revokeKey(database, key_id, Date.now()),
  )
  if (!revoked)
    throw new Error(
      `there is no active key with the id ${key_id} (${asTypedHere('farthing keys list')})`,
    )
  if (json) return printJson({ key_id, revoked: true })
  print(`Revoked ${key_id}.`)
}
