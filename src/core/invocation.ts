/** For hints and examples: how to type a command here. For requests of this process: the proxy, and a header. */
import { existsSync } from 'node:fs'
import { delimiter, dirname, join, relative } from 'node:path'
import { isSea } from 'node:sea'

/** How this process was started. `script` is its path or, for the single executable, that of the program. */
const thisProcess = () => ({
  script: (isSea() ? process.execPath : process.argv[1]) ?? '',
  folder: process.cwd(),
  env: process.env,
  isExecutable: isSea(),
})
export type Started = ReturnType<typeof thisProcess>

/** The words that start `farthing` here. `npm start` needs two hyphens before further words. */
function programName({ script, folder, env, isExecutable }: Started): string {
  if (env.npm_lifecycle_event === 'start' && env.npm_package_name === 'farthing') return 'npm start'
  const path = relative(folder, script)
  const typed = shellWord(/[\\/]/.test(path) ? path : `./${path}`)
  if (isExecutable) return env.PATH?.split(delimiter).includes(dirname(script)) ? 'farthing' : typed
  if (/[\\/]bin[\\/]farthing\.js$/.test(script) && existsSync(join(dirname(script), '../src')))
    return `${env.npm_command === 'exec' ? 'npx ' : ''}node ${typed}`
  return /(^|[\\/])node_modules[\\/](\.bin|farthing[\\/]bin)[\\/]/.test(path)
    ? 'npx farthing'
    : 'farthing'
}

/** A line with `farthing ...` in it, as it must be typed here: in a clone `npm start -- ...`. */
export function asTypedHere(line: string, started = thisProcess()): string {
  const name = programName(started)
  if (name === 'farthing') return line
  // npm prints lines of its own. A program that reads the output must not get those.
  const isRead = /\||\$\(| > /.test(line)
  const withWords = name === 'npm start' ? `npm ${isRead ? '-s ' : ''}start --` : name
  return line
    .replaceAll(/(?<![\w./-])farthing(?= [a-z[-])/g, () => withWords)
    .replace(/(?<![\w./-])farthing$/gm, () => name)
}

/** A line with values, as in hint`farthing pay ${scenario}`: `asTypedHere` changes only its words, never a value. */
export const hint = (texts: TemplateStringsArray, ...values: unknown[]): string =>
  String.raw({ raw: asTypedHere(texts.join('\0')).split('\0') }, ...values)

/** A word of a shell's command line, in quotes if it needs them. */
export const shellWord = (word: string): string =>
  /^[\w./:@%+,=\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** The header of requests with which a command only reads: no plan acts on such a request or counts it. */
export const WITHOUT_PLANS = { 'Farthing-Plans': 'none' }
export const isWithoutPlans = (headers: NodeJS.Dict<string | string[]>): boolean =>
  headers['farthing-plans'] === 'none'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]', '::1']

/** Whether only this machine reaches a host of this name or address. */
export const isLoopback = (host: string): boolean =>
  LOOPBACK.includes(host) || /^127\.[\d.]+$/.test(host)

/** Excepts this machine, whose services no proxy can reach. fetch reads the variables before each request. */
export function exceptLoopback(env: NodeJS.ProcessEnv): void {
  const exceptions = [env.no_proxy ?? env.NO_PROXY, ...LOOPBACK].filter(Boolean).join(',')
  env.no_proxy = exceptions
  env.NO_PROXY = exceptions
}

/** The proxy through which this process sends a request to `url`: its address, without user name and password. */
export function proxyHere(url: string): string | undefined {
  const { env, execArgv } = process
  const { hostname, protocol } = new URL(url)
  const isOn =
    env.NODE_USE_ENV_PROXY === '1' ||
    [...execArgv, env.NODE_OPTIONS ?? ''].some(option => option.includes('--use-env-proxy'))
  const exceptions = (env.no_proxy ?? env.NO_PROXY ?? '').split(/[\s,]+/)
  const isExcepted = exceptions.some(
    name =>
      name === '*' || (name !== '' && `.${hostname}`.endsWith(`.${name.replace(/^\*?\./, '')}`)),
  )
  const proxy =
    protocol === 'https:'
      ? (env.https_proxy ?? env.HTTPS_PROXY)
      : (env.http_proxy ?? env.HTTP_PROXY)
  if (!isOn || isExcepted || !proxy) return undefined
  return URL.parse(proxy)?.origin ?? 'of the environment'
}

/** The options of an agent for requests to this address. */
export const proxyOptions = (url: string) => proxyHere(url) && { proxyEnv: process.env }
