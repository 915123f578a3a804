import { behaviours } from '../core/account.ts'
import { CheckFailed, ControlError, Undelivered, WaitError } from './errors.ts'
import { accountRules, accountStart, createAccount, type Identity } from './handle.ts'
import { HostPromise, onlyOnce } from './host-globals.ts'
import { type Connection, connect } from './http.ts'
import { payOnPages } from './pages.ts'
import type { Account, Farthing, Moment, StartOptions } from './public.d.ts'
import { anyText, check, checkOptions, moment, oneOf, type Rule, text, whole } from './values.ts'

export { CheckFailed, ControlError, payOnPages, Undelivered, WaitError }

/** The oldest Node that runs the service, and the oldest that speaks to it. */
const NEEDED = { startFarthing: '24.18.1', connectFarthing: '20.19.0' }
const THIS_MACHINE = 'localhost,127.0.0.1,[::1]'

type OwnOption = [rule: Rule, setting?: undefined, initial?: undefined]
type SettingOption = [rule: Rule, setting: string, initial?: string]

/** The rule of each option, the setting for which it stands, and its value when it is left out. */
const OPTIONS: {
  [Name in keyof StartOptions]-?: Name extends 'at' | 'seed' ? OwnOption : SettingOption
} = {
  port: [whole(0, 65_535), 'PORT', '0'],
  host: [text, 'HOST'],
  behaviour: [oneOf(behaviours), 'FARTHING_BEHAVIOUR'],
  database: [text, 'DATABASE_URL', 'sqlite::memory:'],
  baseUrl: [text, 'FARTHING_BASE_URL'],
  pagesUrl: [text, 'FARTHING_PAGES_URL'],
  callbackHosts: [anyText, 'FARTHING_CALLBACK_HOSTS', THIS_MACHINE],
  returnHosts: [anyText, 'FARTHING_RETURN_HOSTS', THIS_MACHINE],
  at: [moment],
  seed: [[value => ['number', 'string'].includes(typeof value), 'is not a number or text']],
  log: [oneOf(['silent', 'error', 'warn', 'info']), 'LOG_LEVEL', 'silent'],
}
const startRules = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, [rule]]): [string, Rule] => [name, rule]),
)

export async function startFarthing(options: StartOptions = {}): Promise<Farthing> {
  refuseOldNode('startFarthing')
  checkOptions('startFarthing', options, startRules)
  const { at } = options
  const seed = options.seed === undefined ? undefined : String(options.seed)
  const { createHash, randomBytes } = process.getBuiltinModule('node:crypto')
  const bytes = seed === undefined ? randomBytes(32) : createHash('sha256').update(seed).digest()
  const key = `api_test_${bytes.toString('hex')}`
  const { url, stop } = await startThread({ env: environmentOf(options, key), seed })
  const connection = connect(url)
  const own = { name: 'default', key, hasConsole: true }
  const farthing = createFarthing(connection, own, { at, stop })
  try {
    if (at !== undefined) await farthing.reset({ at })
  } catch (error) {
    await farthing.stop()
    throw error
  }
  return farthing
}

export async function connectFarthing(to: { url?: string; key?: string } = {}): Promise<Farthing> {
  refuseOldNode('connectFarthing')
  checkOptions('connectFarthing', to, { url: text, key: text })
  const { url = process.env.FARTHING_URL, key = process.env.FARTHING_API_KEY } = to
  if (!url || !key)
    throw new TypeError(
      'connectFarthing needs url and key, or FARTHING_URL and FARTHING_API_KEY in the environment',
    )
  check('connectFarthing: url', url, [
    isAddress,
    'is not an address such as http://127.0.0.1:3000, without /v1',
  ])
  if (!/^[!-~]+$/.test(key))
    throw new TypeError(
      'connectFarthing: key has a space, a line break or a letter that is not ASCII',
    )
  const connection = connect(url)
  const stop = async () => {}
  try {
    return createFarthing(connection, { key, ...(await accountBehind(connection, key)) }, { stop })
  } catch (error) {
    await connection.end(stop)
    throw error
  }
}

function isAddress(value: unknown): boolean {
  if (!URL.canParse(String(value))) return false
  const { href, protocol, host, pathname } = new URL(String(value))
  const whole = `${protocol}//${host}${pathname}`
  return /^https?:$/.test(protocol) && href === whole && !/\/v1\/*$/.test(pathname)
}

/** Rejects if control is off there, or if another program responds. */
async function accountBehind(connection: Connection, key: string) {
  const { url } = connection
  const where = `connectFarthing: no Farthing responds at ${url}`
  const overview = await connection
    .callWith(key)('GET', '/control')
    .catch(error => {
      if (error instanceof ControlError && error.code) throw error
      throw new Error(`${where}: ${error.message || error.code}`, { cause: error })
    })
  if (!Array.isArray(overview?.has))
    throw new Error(`${where}: GET /control: 200 without an account`)
  const hasConsole: boolean = overview.has.includes('console')
  if (overview.has.includes('accounts')) return { name: overview.account as string, hasConsole }
  throw new ControlError(`control is off at ${url}: start Farthing with FARTHING_CONTROL=true`, 404)
}

function createFarthing(
  connection: Connection,
  { name, key, hasConsole }: Identity & { hasConsole: boolean },
  { at: first, stop }: { at?: Moment | undefined; stop: () => Promise<void> },
): Farthing {
  const accounts = new Set<Account>()
  const call = connection.callWith(key)
  const own = createAccount(connection, { name, key }, { finish: async () => {}, keep: () => '' })
  const farthing: Farthing = {
    ...own,
    env: { FARTHING_URL: connection.url, FARTHING_API_KEY: key },
    async account(options = {}) {
      checkOptions('account', options, accountRules)
      const { keepOnFailure, at = first, ...others } = options
      const start = accountStart({ ...others, at })
      const created = await call('POST', '/control/accounts', start)
      const name = encodeURIComponent(created.account)
      let isKept = false
      const account = createAccount(
        connection,
        { name: created.account, key: created.key },
        {
          async finish() {
            accounts.delete(account)
            if (!isKept) await call('DELETE', `/control/accounts/${name}`)
          },
          keep() {
            if (!keepOnFailure) return ''
            isKept = true
            return hasConsole
              ? `\nIts account is kept: ${connection.url}/console/a/${name}`
              : `\nIts account ${created.account} is kept, without pages: the console is off (FARTHING_CONSOLE=false)`
          },
        },
      )
      accounts.add(account)
      return account
    },
    stop: onlyOnce(async () => {
      await HostPromise.all([...accounts].map(account => account.end()))
      await own.end()
      await connection.end(stop)
    }),
    [Symbol.asyncDispose]: () => farthing.stop(),
  }
  return farthing
}

function refuseOldNode(call: keyof typeof NEEDED): void {
  const { node } = process.versions
  const isOld = node.localeCompare(NEEDED[call], 'en', { numeric: true }) < 0
  // Some versions after the oldest lack getBuiltinModule.
  if (!isOld && typeof process.getBuiltinModule === 'function') return
  const other =
    call === 'startFarthing'
      ? '. Start Farthing as a process or container, and use connectFarthing'
      : ''
  throw new Error(`${call} needs Node ${NEEDED[call]} or newer, and this is ${node}${other}`)
}

function environmentOf(options: StartOptions, key: string): Record<string, string> {
  const env: Record<string, string> = { FARTHING_API_KEY: key, FARTHING_CONTROL: 'true' }
  for (const [name, [, setting, initial]] of Object.entries(OPTIONS)) {
    const value = options[name as keyof StartOptions] ?? initial
    if (setting && value !== undefined) env[setting] = String(value)
  }
  return env
}

/** If the error of a start begins with a setting, puts the option in place of it. */
function namingOptions(error: Error & { code?: string; port?: number }): Error {
  const { code, port, message } = error
  const [setting = ''] = /^[A-Z_]+/.exec(message) ?? []
  const [option] = Object.entries(OPTIONS).find(([, [, named]]) => named === setting) ?? []
  if (code !== 'EADDRINUSE' && !option) return error
  const text =
    code === 'EADDRINUSE'
      ? `port ${port} is in use. Leave port out for a free one, or stop what listens there`
      : option + message.slice(setting.length)
  return new Error(`startFarthing: ${text}`, { cause: error })
}

/** The folder in which Node keeps the compiled service for the next start, as for the command. */
function compileCache(): Record<string, string> {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env
  if (NODE_DISABLE_COMPILE_CACHE) return {}
  const { tmpdir } = process.getBuiltinModule('node:os')
  return { NODE_COMPILE_CACHE: NODE_COMPILE_CACHE ?? `${tmpdir()}/node-compile-cache` }
}

/** The test's environment, loaders and standard streams stay out of the thread. */
function startThread(workerData: object): Promise<{ url: string; stop(): Promise<void> }> {
  const source = import.meta.url.endsWith('.ts') ? './thread.ts' : '../farthing.cjs'
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const worker = new Worker(new URL(source, import.meta.url), {
    workerData,
    env: compileCache(),
    execArgv: [],
  })
  return new HostPromise((resolve, reject) => {
    const ended = new HostPromise<void>(done => worker.once('exit', () => done()))
    worker.once('error', error => reject(namingOptions(error as Error)))
    worker.once('exit', () => reject(new Error('the service ended before it listened')))
    worker.on('message', ({ url, line }: { url?: string; line?: string }) => {
      if (line) process.stderr.write(line)
      if (!url) return
      worker.unref()
      worker.on('error', error => process.stderr.write(`farthing: ${String(error)}\n`))
      resolve({
        url,
        async stop() {
          worker.ref()
          worker.postMessage('stop')
          await ended
        },
      })
    })
  })
}
