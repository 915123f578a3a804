import { type AllowedHosts, parseAllowedHosts } from './outbound/address.ts'

export type DatabaseAddress = { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string }

export type Config = {
  port: number
  host: string
  database: DatabaseAddress
  /** A fixed key of the default account. */
  apiKey: string | undefined
  /** Without a trailing slash; undefined: from the request's Host. */
  baseUrl: string | undefined
  /** As the browser sees the hosted pages; undefined: the same as baseUrl. */
  pagesUrl: string | undefined
  callbackHosts: AllowedHosts
  trustProxy: boolean
  /** undefined: no metrics. */
  metricsPort: number | undefined
  logLevel: string
  /** Variables that look like settings and are none: misspelt, perhaps. */
  unknown: string[]
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const SHORTEST_API_KEY = 16

/** Every value that cannot be used, one line each, all at once. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** Reads the configuration; a blank variable is as if not set. Throws a ConfigError. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const known = new Set(['FARTHING_CALLBACK_HOSTS'])
  /** undefined where the variable is not set, or cannot be used. */
  function read<T>(name: string, parse: (text: string) => T | undefined, rule: string) {
    known.add(name)
    const text = env[name]?.trim()
    if (!text) return undefined
    const value = parse(text)
    if (value === undefined) problems.push(`${name} must be ${rule}`)
    return value
  }
  const callbackHosts = parseAllowedHosts(env.FARTHING_CALLBACK_HOSTS ?? '')
  problems.push(...callbackHosts.problems.map(problem => `FARTHING_CALLBACK_HOSTS: ${problem}`))
  const address = 'an http or https address without user name, query or fragment'
  const portNumber = 'a port number from 0 to 65535'
  const config: Config = {
    port: read('PORT', parsePort, portNumber) ?? 3000,
    host: env.HOST?.trim() || '127.0.0.1',
    database: read(
      'DATABASE_URL',
      parseDatabase,
      'sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST/DATABASE',
    ) ?? { kind: 'sqlite', path: 'data/farthing.db' },
    apiKey: read(
      'FARTHING_API_KEY',
      text => (/^\P{Cc}*$/u.test(text) && text.length >= SHORTEST_API_KEY ? text : undefined),
      `${SHORTEST_API_KEY} or more characters, none of them a control character`,
    ),
    baseUrl: read('FARTHING_BASE_URL', parseAddress, address),
    pagesUrl: read('FARTHING_PAGES_URL', parseAddress, address),
    callbackHosts: callbackHosts.hosts,
    trustProxy: read('FARTHING_TRUST_PROXY', parseBoolean, 'true or false') ?? false,
    metricsPort: read('FARTHING_METRICS_PORT', parsePort, portNumber),
    logLevel:
      read(
        'LOG_LEVEL',
        text => LOG_LEVELS.find(level => level === text.toLowerCase()),
        `one of ${LOG_LEVELS.join(', ')}`,
      ) ?? 'info',
    unknown: Object.keys(env).filter(name => name.startsWith('FARTHING_') && !known.has(name)),
  }
  if (config.port !== 0 && config.metricsPort === config.port)
    problems.push(`FARTHING_METRICS_PORT must be another port than the service's, ${config.port}`)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function parsePort(text: string): number | undefined {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port <= 65_535 ? port : undefined
}

function parseBoolean(text: string): boolean | undefined {
  return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : undefined
}

function parseDatabase(text: string): DatabaseAddress | undefined {
  // Elsewhere sqlite://x is a path below the current folder, or no path at all: it could be meant either way.
  // And file:x is a file of that name for Node, but for SQLite an address, of the file x.
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
  // A page's links are paths: one that begins with two slashes would be another host.
  return path.includes('//') ? undefined : url.origin + path
}
