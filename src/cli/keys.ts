import { createNewId } from '../core/ids.ts'
import { hint } from '../core/invocation.ts'
import { createTime, iso } from '../core/time.ts'
import { createKey, listKeys, revokeKey } from '../platform/accounts/store.ts'
import { accountOptions, NEEDS_DATABASE, useDatabase } from './database.ts'
import { type CommandGroup, defineCommand, JSON_OPTION } from './define-command.ts'
import { note, print, printJson } from './output.ts'

const create = defineCommand({
  summary: 'make an API key and print it once',
  examples: ['farthing keys create', 'farthing keys create --account licensing --create'],
  options: accountOptions,
  after: NEEDS_DATABASE,
  async run({ config, options }) {
    const { account } = options
    const settings = config()
    const { isNewAccount, key_id, behaviour, key } = await useDatabase(
      settings.database,
      options,
      database => {
        const ports = { database, time: createTime(), newId: createNewId() }
        return createKey(ports, account, settings.behaviour)
      },
    )
    if (options.json) return printJson({ key_id, account, behaviour, key })
    if (isNewAccount) note(`The account ${account} is new. Its behaviour is ${behaviour}.`)
    // Only the key goes to standard output, so that a script can read it.
    note(`The key ${key_id} of the account ${account}, shown only now:`)
    print(key)
  },
})

/** The widths of an identifier, two times and a behaviour. */
const WIDTHS = [26, 24, 24, 13]

const lineOf = (cells: string[]): string =>
  cells.map((cell, i) => cell.padEnd(WIDTHS[i] ?? 0)).join('  ')

const list = defineCommand({
  summary: 'show the id, account, behaviour and dates of each key, never the key',
  examples: [
    'farthing keys list',
    "farthing keys list --json | jq '.keys[] | select(.revoked == null)'",
  ],
  options: JSON_OPTION,
  after: NEEDS_DATABASE,
  async run({ config, options }) {
    const keys = await useDatabase(config().database, undefined, listKeys)
    if (config().fixedKeys.length > 0)
      note(
        'Keys in FARTHING_API_KEY and FARTHING_API_KEYS are not listed: they are in the settings of the service.',
      )
    const dated = keys.map(({ created, revoked, ...key }) => ({
      ...key,
      created: iso(created),
      revoked: revoked === null ? null : iso(revoked),
    }))
    if (options.json) return printJson({ keys: dated })
    if (keys.length === 0) return print('There are no keys.')
    print(lineOf(['id', 'created', 'revoked', 'behaviour', 'account']))
    for (const { key_id, created, revoked, behaviour, account } of dated)
      print(lineOf([key_id, created, revoked ?? '-', behaviour, account]))
  },
})

const revoke = defineCommand({
  summary: 'stop a key; a running service refuses it within a second',
  examples: ['farthing keys revoke 06h3k9v0u2j4m5n6p7q8r9s0t1'],
  argument: { value: '<id>', meaning: 'from keys list' },
  options: JSON_OPTION,
  after: NEEDS_DATABASE,
  async run({ config, argument: key_id, options }) {
    const revoked = await useDatabase(config().database, undefined, database =>
      revokeKey(database, key_id, Date.now()),
    )
    if (!revoked)
      throw new Error(hint`there is no active key with the id ${key_id} (farthing keys list)`)
    if (options.json) return printJson({ key_id, revoked: true })
    print(`Revoked ${key_id}.`)
  },
})

export const keys: CommandGroup = {
  summary: 'make, list and revoke API keys, each of which sees only its own account',
  examples: ['farthing keys create', 'farthing keys list'],
  after: NEEDS_DATABASE,
  commands: { create, list, revoke },
}
