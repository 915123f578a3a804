import type { AllowedHosts, Config, DatabaseAddress } from '../core/config.ts'
import { callbackUrlProblem, hostAndPort, parseAllowedHosts } from '../platform/outbound/address.ts'

/** Every environment variable that Farthing reads. */
export const SETTINGS = [
  'PORT',
  'HOST',
  'DATABASE_URL',
  'FARTHING_API_KEY',
  'FARTHING_URL',
  'FARTHING_BASE_URL',
  'FARTHING_PAGES_URL',
  'FARTHING_CALLBACK_HOSTS',
  'FARTHING_RETURN_HOSTS',
  'FARTHING_WEBHOOK_URL',
  'FARTHING_SIGNING_KEY',
  'FARTHING_SERVICE_NAME',
  'FARTHING_TRUST_PROXY',
  'FARTHING_CONSOLE',
  'FARTHING_CONTROL',
  'FARTHING_METRICS_PORT',
  'LOG_LEVEL',
] as const

type Setting = (typeof SETTINGS)[number]

export const DEFAULT_DATABASE = { kind: 'sqlite', path: 'data/farthing.db' } as const
export const DEFAULT_URL = 'http://127.0.0.1:3000'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
/** Characters of an API key or a signing key. */
const SHORTEST_KEY = 16
const KEY_RULE = `${SHORTEST_KEY} or more characters, none of them a control character`
const LONGEST_SERVICE_NAME = 80
const LONGEST_REPEATED = 100

/** Has one line for each value that cannot be used. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** Reads the configuration. A blank variable counts as not set. Throws a ConfigError that has every problem. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = []
  /** Returns undefined where the variable is not set or cannot be used. */
  function read<T>(name: Setting, parse: (text: string) => T | undefined, rule: string) {
    const text = env[name]?.trim()
    if (!text) return undefined
    const value = parse(text)
    if (value === undefined) problems.push(`${name} must be ${rule}${repeated(name, text)}`)
    return value
  }
  function readHosts(name: Setting): AllowedHosts {
    const { hosts, problems: wrong } = parseAllowedHosts(env[name] ?? '')
    problems.push(...wrong.map(problem => `${name}: ${problem}`))
    return hosts
  }
  const callbackHosts = readHosts('FARTHING_CALLBACK_HOSTS')
  const webhookUrl = read('FARTHING_WEBHOOK_URL', parseWebhookUrl, WEBHOOK_RULE)
  const signingKey = read('FARTHING_SIGNING_KEY', parseKey, KEY_RULE)
  const [urlName, keyName] = ['FARTHING_WEBHOOK_URL', 'FARTHING_SIGNING_KEY']
  if (webhookUrl && !env[keyName]?.trim()) problems.push(needs(urlName, keyName))
  if (signingKey && !env[urlName]?.trim()) problems.push(needs(keyName, urlName))
  const address = 'an http or https address without user name, query or fragment'
  const portNumber = 'a port number from 0 to 65535'
  const config: Config = {
    port: read('PORT', parsePort, portNumber) ?? 3000,
    host: env.HOST?.trim() || '127.0.0.1',
    database:
      read(
        'DATABASE_URL',
        parseDatabase,
        'sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST/DATABASE',
      ) ?? DEFAULT_DATABASE,
    apiKey: read('FARTHING_API_KEY', parseKey, KEY_RULE),
    baseUrl: read('FARTHING_BASE_URL', parseAddress, address),
    pagesUrl: read('FARTHING_PAGES_URL', parseAddress, address),
    url: read('FARTHING_URL', parseAddress, address) ?? DEFAULT_URL,
    callbackHosts: new Set([
      ...callbackHosts,
      ...(webhookUrl ? [hostAndPort(new URL(webhookUrl))] : []),
    ]),
    returnHosts: readHosts('FARTHING_RETURN_HOSTS'),
    fixedWebhook:
      webhookUrl && signingKey ? { callback_url: webhookUrl, signing_key: signingKey } : undefined,
    serviceName: read(
      'FARTHING_SERVICE_NAME',
      text => (/^\P{Cc}*$/u.test(text) && text.length <= LONGEST_SERVICE_NAME ? text : undefined),
      `at most ${LONGEST_SERVICE_NAME} characters, none of them a control character`,
    ),
    trustProxy: read('FARTHING_TRUST_PROXY', parseBoolean, 'true or false') ?? false,
    console: read('FARTHING_CONSOLE', parseBoolean, 'true or false') ?? true,
    control: read('FARTHING_CONTROL', parseBoolean, 'true or false') ?? false,
    metricsPort: read('FARTHING_METRICS_PORT', parsePort, portNumber),
    logLevel:
      read(
        'LOG_LEVEL',
        text => LOG_LEVELS.find(level => level === text.toLowerCase()),
        `one of ${LOG_LEVELS.join(', ')}`,
      ) ?? 'info',
    warnings: Object.keys(env).filter(isUnknown).map(unknownWarning),
  }
  if (config.port !== 0 && config.metricsPort === config.port)
    problems.push(`FARTHING_METRICS_PORT must differ from PORT: both are ${config.port}`)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** The end of a sentence that repeats the value, unless the value may hold a key or a password. */
function repeated(name: Setting, text: string): string {
  const secret =
    name === 'FARTHING_API_KEY' ||
    name === 'FARTHING_SIGNING_KEY' ||
    /[?@]/.test(text) ||
    (name === 'DATABASE_URL' && !/^(sqlite:|[\w./~-]+$)/.test(text))
  if (secret) return ''
  const shown = text.length > LONGEST_REPEATED ? `${text.slice(0, LONGEST_REPEATED)}...` : text
  const isUrl = /^FARTHING_(BASE_|PAGES_)?URL$/.test(name)
  const lacksScheme = isUrl && /^[a-z\d[]/i.test(text) && !text.includes('://')
  const meant = lacksScheme && parseAddress(`http://${text}`)
  return `. It is ${JSON.stringify(shown)}${meant ? `: did you mean http://${text}?` : ''}`
}

const needs = (given: string, absent: string): string =>
  `${given} needs ${absent}: set both or neither`

const PREFIX = /^FARTHING_/

const isUnknown = (name: string): boolean =>
  PREFIX.test(name) && !SETTINGS.some(setting => setting === name)

function unknownWarning(name: string): string {
  const meant = nearestSetting(name)
  const advice = meant ? `Did you mean ${meant}?` : 'farthing --help lists the settings.'
  return `${name} is not a Farthing setting and was ignored. ${advice}`
}

/**
 * The setting whose name is most like this one, or undefined if none is like it. The prefix does not
 * count, because some settings have none: FARTHING_PORT is like PORT.
 */
function nearestSetting(name: string): Setting | undefined {
  const bare = name.replace(PREFIX, '')
  const [nearest] = SETTINGS.map(setting => ({
    setting,
    distance: editDistance(bare, setting.replace(PREFIX, '')),
  })).sort((a, b) => a.distance - b.distance)
  return nearest && nearest.distance <= bare.length / 3 ? nearest.setting : undefined
}

/** The Levenshtein distance: how many characters must be inserted, deleted or replaced. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (const [i, character] of [...from].entries()) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] ?? 0) + (character === to[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

function parsePort(text: string): number | undefined {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port <= 65_535 ? port : undefined
}

function parseBoolean(text: string): boolean | undefined {
  return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : undefined
}

const parseKey = (text: string): string | undefined =>
  /^\P{Cc}*$/u.test(text) && text.length >= SHORTEST_KEY ? text : undefined

const LONGEST_WEBHOOK_URL = 2_048
const WEBHOOK_RULE = `an http or https address of at most ${LONGEST_WEBHOOK_URL} characters, without user name or password`

/** The rules for the form of a callback_url. Its host counts as listed, so it may be private. */
function parseWebhookUrl(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || text.length > LONGEST_WEBHOOK_URL) return undefined
  return callbackUrlProblem(text, new Set([hostAndPort(url)])) ? undefined : text
}

function parseDatabase(text: string): DatabaseAddress | undefined {
  // sqlite://x is refused because it is ambiguous: other programs disagree on what it names. So is file:x, which
  // Node takes for the name of a file and SQLite for a URI.
  if (/^sqlite:(?!\/\/[^/]|file:)./.test(text))
    return { kind: 'sqlite', path: text.slice('sqlite:'.length) }
  return /^postgres(ql)?:\/\//i.test(text) && URL.canParse(text)
    ? { kind: 'postgres', url: text }
    : undefined
}

function parseAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (/[?#]/.test(text) || url.username || url.password) return undefined
  const path = url.pathname.replace(/\/+$/, '')
  // Pages link to paths, and a browser reads a path that begins with two slashes as another host.
  return path.includes('//') ? undefined : url.origin + path
}
