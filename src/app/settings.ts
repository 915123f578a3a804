/** Every setting is one row, from which the reader, the help and docs/reference.md are made. */
import { type Behaviour, behaviours, isAccountName } from '../core/account.ts'
import type { Config, DatabaseAddress } from '../core/config.ts'
import { boolean, fromText, integer, oneOf, type Reader, text } from '../core/values.ts'
import { callbackUrlProblem, hostAndPort, parseAllowedHosts } from '../platform/outbound/address.ts'

export type Setting<Value = unknown> = {
  name: string
  /** Returns undefined if the text cannot be used, or a reason of its own. */
  parse: (text: string) => Value | undefined | Problem
  /** The requirement on a value, for its error: "a name or an address". */
  rule: string
  unset: Value
  /** The default as the help and the documents show it, in Markdown. */
  initial?: string
  /** The effect of the setting, in Markdown. */
  meaning: string
  /** Set if no error may repeat the value. */
  isSecret?: true
}

/** Why a value cannot be used, as the rest of a sentence that begins with the name. */
export class Problem extends Error {}

/** Without `initial`, a default that is text, a number or a boolean is shown as it is written. */
const setting = <Value>(row: Setting<Value>): Setting<Value> => ({
  ...(/string|number|boolean/.test(typeof row.unset) && { initial: `\`${row.unset}\`` }),
  ...row,
})

/** A setting without a default. */
const optional = <Value>(row: Omit<Setting<Value>, 'unset'>): Setting<Value | undefined> =>
  setting<Value | undefined>({ ...row, unset: undefined })

export const DEFAULT_DATABASE = { kind: 'sqlite', path: 'data/farthing.db' } as const
export const DEFAULT_URL = 'http://127.0.0.1:3000'

const lowerCase = (text: string) => text.toLowerCase()
const asIs = (text: string) => text

const reads = <Read>(value: Reader<Read>, change = asIs) => ({
  parse: (text: string) => fromText(value, change(text)),
  rule: value.rule,
})

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const PORT = reads(integer(0, 65_535))
const SWITCH = reads(boolean(), lowerCase)
const ADDRESS = {
  parse: parseAddress,
  rule: 'an http or https address without user name, query or fragment',
}
const HOSTS = {
  parse: parseHosts,
  rule: 'a list of host or host:port, separated by commas',
  unset: new Set<string>() as ReadonlySet<string>,
}
/** Characters of an API key or a signing key. */
const SHORTEST_KEY = 16
const LONGEST_SERVICE_NAME = 50
const LONGEST_WEBHOOK_URL = 2_048
const KEY = /^[!-~]{16,}$/

const visible = (length: string, pattern: RegExp) =>
  text({}, `${length} characters, none of them a control character`, pattern)

/** By their key in the configuration, in the order of the help and of docs/reference.md. */
export const settings = {
  port: setting({
    name: 'PORT',
    ...PORT,
    unset: 3000,
    meaning: 'The port on which to listen. `0` takes a free one',
  }),
  host: setting({
    name: 'HOST',
    parse: asIs,
    rule: 'a name or an address',
    unset: '127.0.0.1',
    meaning: 'The address on which to listen. With `0.0.0.0` other machines can connect',
  }),
  database: setting<DatabaseAddress>({
    name: 'DATABASE_URL',
    parse: parseDatabase,
    rule: 'sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST/DATABASE',
    unset: DEFAULT_DATABASE,
    initial: '`sqlite:data/farthing.db`',
    meaning:
      'Where payments are kept: a file, relative to the current folder. Also `sqlite::memory:` (nothing is kept) and `postgres://USER:PASSWORD@HOST/DATABASE` (PostgreSQL 14 or newer)',
  }),
  behaviour: setting<Behaviour>({
    name: 'FARTHING_BEHAVIOUR',
    ...reads(oneOf(behaviours)),
    unset: 'specification',
    meaning:
      '`govuk-pay`: the account `default` answers as GOV.UK Pay does where that [differs from the specification](spec-gaps.md#where-govuk-pay-differs). Accounts that the settings or `farthing keys` make begin with it',
  }),
  apiKey: optional({
    name: 'FARTHING_API_KEY',
    ...reads(text({}, `${SHORTEST_KEY} or more visible ASCII characters, without spaces`, KEY)),
    meaning: `A fixed key of the account \`default\`, ${SHORTEST_KEY} or more visible ASCII characters. Without it the first start makes a key. Commands use it too`,
    isSecret: true,
  }),
  apiKeys: setting<readonly KeyPair[]>({
    name: 'FARTHING_API_KEYS',
    parse: parseKeys,
    rule: 'account=key pairs, separated by commas',
    unset: [],
    meaning: `Fixed keys of several accounts: \`account=key\` pairs with a comma between them, each key ${SHORTEST_KEY} or more visible ASCII characters without a comma. The accounts are made at the start`,
    isSecret: true,
  }),
  url: setting({
    name: 'FARTHING_URL',
    ...ADDRESS,
    unset: DEFAULT_URL,
    meaning: 'The service that the commands speak to, such as `farthing pay`',
  }),
  baseUrl: optional({
    name: 'FARTHING_BASE_URL',
    ...ADDRESS,
    initial: "the request's Host",
    meaning: "The API's address in links, as clients see it. May have a path, without `/v1`",
  }),
  pagesUrl: optional({
    name: 'FARTHING_PAGES_URL',
    ...ADDRESS,
    initial: "as the API's",
    meaning: 'The address of the hosted pages in links, as the browser sees it',
  }),
  callbackHosts: setting({
    name: 'FARTHING_CALLBACK_HOSTS',
    ...HOSTS,
    meaning:
      'Comma-separated list of `host` or `host:port`: hosts that webhooks may reach although they are private, also over plain http',
  }),
  returnHosts: setting({
    name: 'FARTHING_RETURN_HOSTS',
    ...HOSTS,
    meaning:
      'Comma-separated list of `host` or `host:port` that a `return_url` may name over plain http',
  }),
  webhookUrl: optional({
    name: 'FARTHING_WEBHOOK_URL',
    parse: parseWebhookUrl,
    rule: `an http or https address of at most ${LONGEST_WEBHOOK_URL} characters, without user name or password`,
    meaning:
      'A webhook of the account `default`, made at the start, for all event types. Its host and port count as listed in `FARTHING_CALLBACK_HOSTS`. Needs `FARTHING_SIGNING_KEY`',
  }),
  signingKey: optional({
    name: 'FARTHING_SIGNING_KEY',
    ...reads(visible(`${SHORTEST_KEY} or more`, /^\P{Cc}{16,}$/u)),
    meaning: `The signing key of that webhook, ${SHORTEST_KEY} or more characters`,
    isSecret: true,
  }),
  serviceName: optional({
    name: 'FARTHING_SERVICE_NAME',
    ...reads(visible(`at most ${LONGEST_SERVICE_NAME}`, /^\P{Cc}{0,50}$/u)),
    initial: '`Farthing payments`, or `Taliadau Farthing` in Welsh',
    meaning: `The name of your service in the header and the titles of the hosted pages, at most ${LONGEST_SERVICE_NAME} characters. It is the same in both languages`,
  }),
  trustProxy: setting({
    name: 'FARTHING_TRUST_PROXY',
    ...SWITCH,
    unset: false,
    meaning: '`true`: take scheme and host from `X-Forwarded-Proto` and `X-Forwarded-Host`',
  }),
  console: setting({
    name: 'FARTHING_CONSOLE',
    ...SWITCH,
    unset: true,
    meaning:
      '`false`: no console ([console.md](console.md)), no listeners and, unless `FARTHING_CONTROL` is `true`, no record of requests and no paths below `/control`',
  }),
  control: setting({
    name: 'FARTHING_CONTROL',
    ...SWITCH,
    unset: false,
    meaning:
      '`true`: a key can set outcomes, wait for payments and move the clock of its account ([control.md](control.md))',
  }),
  recordMax: setting({
    name: 'FARTHING_RECORD_MAX',
    ...reads(integer(1, 999_999)),
    rule: 'a whole number of megabytes from 1 to 999999',
    unset: 256,
    meaning:
      'The megabytes of the [record of requests](#the-record-of-requests) of all accounts. The oldest go first',
  }),
  metricsPort: optional({
    name: 'FARTHING_METRICS_PORT',
    ...PORT,
    initial: 'no metrics',
    meaning: 'Prometheus metrics at `/metrics` on this port of `HOST`',
  }),
  logLevel: setting({
    name: 'LOG_LEVEL',
    ...reads(oneOf(LOG_LEVELS), lowerCase),
    unset: 'info',
    meaning: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
  }),
}

export type Settings = { [Key in keyof typeof settings]: (typeof settings)[Key]['unset'] }

export const SETTINGS: readonly string[] = Object.values(settings).map(({ name }) => name)

type KeyPair = { account: string; key: string }

/** No error repeats a key, so it names a wrong pair by its place. */
function parseKeys(text: string): readonly KeyPair[] | Problem {
  const pairs = text.split(',').map(pair => {
    const [account = '', ...key] = pair.split('=')
    return { account: account.trim(), key: key.join('=').trim() }
  })
  const wrong = pairs.flatMap(({ account, key }, i) =>
    isAccountName(account) && KEY.test(key) ? [] : [i + 1],
  )
  if (wrong.length === 0) return pairs
  const places = `${wrong.length > 1 ? 'pairs' : 'pair'} ${wrong.join(', ')}`
  return new Problem(
    ` must be account=key pairs, separated by commas, each key ${SHORTEST_KEY} or more visible ASCII characters: see ${places}`,
  )
}

function parseHosts(text: string): Config['returnHosts'] | Problem {
  const { hosts, problems } = parseAllowedHosts(text)
  return problems.length > 0 ? new Problem(`: ${problems.join('; ')}`) : hosts
}

/** The rules for the form of a callback_url. Its host counts as listed, so it may be private. */
function parseWebhookUrl(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || text.length > LONGEST_WEBHOOK_URL) return undefined
  return callbackUrlProblem(text, new Set([hostAndPort(url)])) ? undefined : text
}

/** Parameters with which other drivers choose the schema. Ours ignores them: the tables would go to another schema. */
const SCHEMA = ['schema', 'currentSchema', 'search_path']

const UNREADABLE =
  ' cannot be read as postgres://USER:PASSWORD@HOST/DATABASE: percent-encode the user and the password, and name a host, such as localhost, also before ?host=SOCKET'

function isDecodable(text: string): boolean {
  try {
    const { username, password, pathname } = new URL(text)
    return decodeURIComponent(username + password + pathname).length > 0
  } catch {
    return false
  }
}

function parseDatabase(text: string): DatabaseAddress | undefined | Problem {
  if (/^sqlite:.*\?\w+=/.test(text))
    return new Problem(' must name a file without parameters after a question mark')
  // sqlite://x is refused because it is ambiguous: other programs disagree on the file that it names. file:x is refused
  // too: Node takes it for the name of a file, and SQLite for a URI.
  if (/^sqlite:(?!\/\/[^/]|file:)./.test(text))
    return { kind: 'sqlite', path: text.slice('sqlite:'.length) }
  if (!/^postgres(ql)?:\/\//i.test(text)) return undefined
  if (!isDecodable(text)) return new Problem(UNREADABLE)
  const { searchParams } = new URL(text)
  const schema = SCHEMA.find(name => searchParams.has(name))
  if (schema === undefined) return { kind: 'postgres', url: text }
  return new Problem(
    ` must not have ${schema}, which has no effect: name the schema as in ?options=-c%20search_path%3Dfarthing`,
  )
}

/** Returns the address without a slash at its end. */
export function parseAddress(text: string): string | undefined | Problem {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null
  if (!url || /[?#]/.test(text) || url.username || url.password) return undefined
  const path = url.pathname.replace(/(?<!\/)\/+$/, '')
  // Pages link to paths, and a browser reads a path that begins with two slashes as another host.
  if (path.includes('//')) return undefined
  if (!path.endsWith('/v1')) return url.origin + path
  const meant = url.origin + path.slice(0, -'/v1'.length)
  return new Problem(` must not end in /v1, which Farthing adds itself: set it to ${meant}`)
}
