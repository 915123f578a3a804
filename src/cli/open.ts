import { spawn } from 'node:child_process'
import type { Config } from '../core/config.ts'
import { ENTER_MS, enterUrl, seal } from '../platform/accounts/seal.ts'
import { findLivingKey, listKeys } from '../platform/accounts/store.ts'
import { CommandError } from './command-error.ts'
import { useDatabase } from './database.ts'
import { asTypedHere } from './invocation.ts'
import { note, print, printJson } from './output.ts'
import { connect, type ServiceOptions } from './running-service.ts'
import type { Env } from './verify.ts'

export type OpenOptions = ServiceOptions & { account: string; json?: boolean }

/** `farthing open`: opens the console, signed in, or /docs. Prints the link where there is no desktop. */
export async function open(
  config: Config,
  env: Env,
  page: string,
  options: OpenOptions,
): Promise<void> {
  const url = await addressOf(config, page, options)
  if (options.json) return printJson({ url })
  if (!openBrowser(url, env)) return print(url)
  note(`Opened ${new URL(url).origin} in your browser.`)
}

async function addressOf(config: Config, page: string, options: OpenOptions): Promise<string> {
  const site = options.url ?? config.url
  if (page === 'docs') return `${site}/docs`
  const to = page === 'payments' ? page : `payments/${page}`
  if (options.key === undefined && config.apiKey === undefined)
    return enterUrl(site, await codeFromDatabase(config, options.account), to)
  const service = await connect(config, options)
  return (await service.ask('POST', '/control/enter', { json: { to } })).url
}

/** Without a key: sealed with the newest active key of the account. */
const codeFromDatabase = (config: Config, account: string): Promise<string> =>
  useDatabase(config.database, undefined, async database => {
    const keys = await listKeys(database)
    const newest = keys.findLast(key => key.account === account && key.revoked === null)
    const key = newest && (await findLivingKey(database, newest.key_id, undefined))
    if (!newest || !key)
      throw new CommandError(
        `this database has no active key of the account ${account}: make one (${asTypedHere(`farthing keys create --account "${account}"`)}), or set FARTHING_API_KEY`,
      )
    const sealed = { account, key_id: newest.key_id, expires: Date.now() + ENTER_MS }
    return seal(sealed, 'enter', key.hash)
  })

/** Returns false where there is no desktop. */
function openBrowser(url: string, env: Env): boolean {
  const [program, ...args] = openerOf(env)
  if (program === undefined) return false
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  opener.on('error', () => print(url))
  opener.unref()
  return true
}

function openerOf(env: Env): string[] {
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : []
}
