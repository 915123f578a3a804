import { hash } from 'node:crypto'
import { DEFAULT_ACCOUNT } from '../core/account.ts'
import type { Config, FixedKey } from '../core/config.ts'
import { asTypedHere } from '../core/invocation.ts'
import { nearestOf } from '../core/nearest.ts'
import { hostAndPort } from '../platform/outbound/address.ts'
import {
  Problem,
  parseAddress,
  SETTINGS,
  type Setting,
  type Settings,
  settings,
} from './settings.ts'

const LONGEST_REPEATED = 100
const MEGABYTE = 1024 * 1024

/** Its message has one line for each value that cannot be used. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** Reads the configuration. A blank variable counts as not set. Throws a ConfigError with every problem. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const isSet = ({ name }: Setting) => Boolean(env[name]?.trim())
  const values = Object.fromEntries(
    Object.entries(settings).map(([key, setting]) => {
      const text = isLink(setting.name, env[setting.name]) ? '' : env[setting.name]?.trim()
      const read = readSetting(setting, text)
      if (read instanceof Problem) problems.push(setting.name + read.message)
      return [key, read instanceof Problem ? setting.unset : read]
    }),
  ) as Settings // each key has the value of its own row
  const { webhookUrl, signingKey, apiKeys, ...config } = values
  const fixedKeys = fixedKeysOf(values)
  const shared = fixedKeys.find(({ key, account }) =>
    fixedKeys.some(other => other.key === key && other.account !== account),
  )
  if (shared)
    problems.push(
      `FARTHING_API_KEYS must have another key for each account: that of ${shared.account} opens a second one`,
    )
  if (webhookUrl && !isSet(settings.signingKey))
    problems.push(needs(settings.webhookUrl, settings.signingKey))
  if (signingKey && !isSet(settings.webhookUrl))
    problems.push(needs(settings.signingKey, settings.webhookUrl))
  if (config.port !== 0 && config.metricsPort === config.port)
    problems.push(`FARTHING_METRICS_PORT must differ from PORT: both are ${config.port}`)
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    ...config,
    recordMax: config.recordMax * MEGABYTE,
    fixedKeys,
    callbackHosts: new Set([
      ...config.callbackHosts,
      ...(webhookUrl ? [hostAndPort(new URL(webhookUrl))] : []),
    ]),
    fixedWebhook:
      webhookUrl && signingKey ? { callback_url: webhookUrl, signing_key: signingKey } : undefined,
    isLibrary: false,
    warnings: warningsOf(env),
  }
}

function fixedKeysOf({ apiKey, apiKeys }: Settings): FixedKey[] {
  const own =
    apiKey === undefined ? [] : [{ account: DEFAULT_ACCOUNT, key: apiKey, key_id: 'configured' }]
  const pairs = apiKeys.map((pair, i) => ({ ...pair, key_id: `configured${i + 1}` }))
  return [...own, ...pairs].map(pair => ({ ...pair, hash: hash('sha256', pair.key) }))
}

function readSetting({ name, parse, rule, unset, isSecret }: Setting, text: string | undefined) {
  if (!text) return unset
  if (/^(["']).*\1$/.test(text))
    return new Problem(' must not have quotes around it: docker --env-file keeps them')
  const value = parse(text)
  if (value !== undefined) return value
  return new Problem(` must be ${rule}${isSecret ? '' : repeated(name, text)}`)
}

/** The end of a sentence that repeats the value, unless the value may hold a password. */
function repeated(name: string, text: string): string {
  const mayHavePassword =
    /[?@]/.test(text) || (name === 'DATABASE_URL' && !/^(sqlite:|[\w./~-]+$)/.test(text))
  if (mayHavePassword) return ''
  const start = text.length > LONGEST_REPEATED ? `${text.slice(0, LONGEST_REPEATED)}...` : text
  const isUrl = /^FARTHING_(BASE_|PAGES_)?URL$/.test(name)
  const lacksScheme = isUrl && /^[a-z\d[]/i.test(text) && !text.includes('://')
  const isMeant = lacksScheme && typeof parseAddress(`http://${text}`) === 'string'
  return `. It is ${JSON.stringify(start)}${isMeant ? `: did you mean http://${text}?` : ''}`
}

const needs = (present: Setting, absent: Setting): string =>
  `${present.name} needs ${absent.name}: set both or neither`

const PREFIX = /^FARTHING_/

/** A port that Kubernetes or Docker sets to the address of another service, such as `tcp://10.0.0.1:3000`. */
const isLink = (name: string, value = ''): boolean => /PORT$/.test(name) && value.includes('://')

/** The other variables that come with such a port. */
const BESIDE_LINK = /_(SERVICE_HOST$|(SERVICE_PORT|PORT_\d+_(TCP|UDP|SCTP))(_\w|$))/

/** All links, and the variables that come with them, are one warning. */
function warningsOf(env: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(env).filter(name => PREFIX.test(name) || SETTINGS.includes(name))
  const links = names.filter(name => isLink(name, env[name]))
  const others = names.filter(name => !SETTINGS.includes(name) && !links.includes(name))
  if (links.length === 0) return others.map(unknownWarning)
  const unknown = others.filter(name => !BESIDE_LINK.test(name))
  return [
    `Kubernetes sets variables such as ${links[0]} to addresses of other services. Farthing ignored ${links.length + others.length - unknown.length}: enableServiceLinks: false in the pod keeps them away.`,
    ...unknown.map(unknownWarning),
  ]
}

/** Names the most similar setting. The prefix does not count: FARTHING_PORT is similar to PORT. */
function unknownWarning(name: string): string {
  const bare = (setting: string) => setting.replace(PREFIX, '')
  const nearest = nearestOf(bare(name), SETTINGS.map(bare))
  const meant = SETTINGS.find(setting => bare(setting) === nearest)
  const advice = meant
    ? `Did you mean ${meant}?`
    : asTypedHere('farthing --help lists the settings.')
  return `${name} is not a Farthing setting and was ignored. ${advice}`
}
