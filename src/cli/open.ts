import { spawn } from 'node:child_process'
import { DEFAULT_ACCOUNT } from '../core/account.ts'
import type { Config } from '../core/config.ts'
import { hint } from '../core/invocation.ts'
import { either, oneOf, text } from '../core/values.ts'
import { ENTER_MS, enterUrl, seal } from '../platform/accounts/seal.ts'
import { findLivingKey, listKeys } from '../platform/accounts/store.ts'
import { CommandError, wrongUsage } from './command-error.ts'
import { useDatabase } from './database.ts'
import { defineCommand, type OptionsOf } from './define-command.ts'
import { note, print, printJson } from './output.ts'
import { option } from './parse.ts'
import { connect, serviceOptions } from './running-service.ts'

const pages = ['home', 'payments', 'docs'] as const
const payment = text({ pattern: '^[0-9a-v]{26}$' }, 'the identifier of a payment')
const parsePage = option(either(oneOf(pages), payment))

const options = {
  account: {
    value: '<name>',
    meaning: 'without a key: the account in the database',
    initial: DEFAULT_ACCOUNT,
  },
  ...serviceOptions,
} as const
type OpenOptions = OptionsOf<typeof options>

export const open = defineCommand({
  summary: 'open the console, signed in',
  more: 'It prints the link where there is no desktop. The link works for a minute.',
  examples: ['farthing open', 'farthing open docs', 'farthing open 06h3k9v0u2j4m5n6p7q8r9s0t1'],
  argument: {
    value: '[page]',
    meaning: 'home, payments, docs, or the identifier of a payment',
    values: pages,
    parse: parsePage,
    initial: 'home',
  },
  options,
  after: `Needs FARTHING_URL (default: http://127.0.0.1:3000). Without FARTHING_API_KEY it
signs in with a key of the account in the database that DATABASE_URL names.`,
  async run({ config, env, argument, options }) {
    const url = await pageUrl(config(), argument, options)
    if (options.json) return printJson({ url })
    if (!openBrowser(url, env)) return print(url)
    note(`Opening ${new URL(url).origin} in your browser.`)
  },
})

async function pageUrl(config: Config, page: string, options: OpenOptions): Promise<string> {
  const site = options.url ?? config.url
  const hasKey = options.key !== undefined || config.apiKey !== undefined
  if (options.account !== DEFAULT_ACCOUNT) {
    if (hasKey)
      throw wrongUsage(
        'with a key --account has no effect: leave it out, or unset FARTHING_API_KEY',
      )
    if (page === 'docs') throw wrongUsage('with docs --account has no effect: leave it out')
  }
  if (page === 'docs') return `${site}/docs`
  const below = page === 'payments' ? page : `payments/${page}`
  const to = page === 'home' ? undefined : below
  if (!hasKey) return enterUrl(site, await codeFromDatabase(config, options.account), to)
  const service = await connect(config, options)
  return (await service.ask('POST', '/control/enter', { json: { to } })).url
}

/** The code for a link without a key: sealed with the newest active key of the account. */
const codeFromDatabase = (config: Config, account: string): Promise<string> =>
  useDatabase(config.database, undefined, async database => {
    const keys = await listKeys(database)
    const newest = keys.findLast(key => key.account === account && key.revoked === null)
    const key = newest && (await findLivingKey(database, newest.key_id, []))
    if (!newest || !key)
      throw new CommandError(
        hint`this database has no active key of the account ${account}: make one (farthing keys create --account "${account}"), or set FARTHING_API_KEY`,
      )
    const sealed = { account, key_id: newest.key_id, expires: Date.now() + ENTER_MS }
    return seal(sealed, 'enter', key.hash)
  })

/** Returns false where there is no desktop. */
function openBrowser(url: string, env: NodeJS.ProcessEnv): boolean {
  const [program, ...args] = openerOf(env)
  if (program === undefined) return false
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  opener.on('error', () => print(url))
  opener.unref()
  return true
}

function openerOf(env: NodeJS.ProcessEnv): string[] {
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : []
}
