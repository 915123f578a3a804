import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, readConfig } from '../src/app/config.ts'
import { SETTINGS, type Settings, settings } from '../src/app/settings.ts'
import type { Config } from '../src/core/config.ts'

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    assert.equal(error.message, error.problems.join('\n'))
    return error.problems
  }
}

const postgres = (url: string) => ({ kind: 'postgres' as const, url })
const sqlite = (path: string) => ({ kind: 'sqlite' as const, path })

const KEY = 'x'.repeat(16)
const LONGEST_NAME = 'ü'.repeat(50)

/** Valid texts of each setting that the configuration has as it is, with the value that each becomes. */
const good: { [Key in keyof Settings & keyof Config]: Record<string, Config[Key]> } = {
  port: { 0: 0, 8080: 8080, 65535: 65_535, ' 80 ': 80 },
  host: { '0.0.0.0': '0.0.0.0', '::1': '::1', localhost: 'localhost' },
  database: {
    'sqlite:data/farthing.db': sqlite('data/farthing.db'),
    'sqlite:/var/lib/a b.db': sqlite('/var/lib/a b.db'),
    'sqlite:///var/lib/farthing.db': sqlite('///var/lib/farthing.db'),
    'sqlite::memory:': sqlite(':memory:'),
    'postgres://me:secret@db:5432/farthing': postgres('postgres://me:secret@db:5432/farthing'),
    'POSTGRES://db/farthing': postgres('POSTGRES://db/farthing'),
    'postgresql://db/a?sslmode=require': postgres('postgresql://db/a?sslmode=require'),
  },
  apiKey: { [KEY]: KEY, '!"#$%&()*+,-./~^_': '!"#$%&()*+,-./~^_' },
  baseUrl: {
    'https://pay.example.org': 'https://pay.example.org',
    'http://localhost:3000/': 'http://localhost:3000',
    'https://pay.example.org/a//': 'https://pay.example.org/a',
    'HTTPS://Pay.Example.Org/farthing/api/': 'https://pay.example.org/farthing/api',
  },
  url: { 'HTTP://Pay:80/': 'http://pay' },
  pagesUrl: { 'http://10.0.0.1/pay': 'http://10.0.0.1/pay' },
  callbackHosts: {
    localhost: new Set(['localhost']),
    ' a.internal:8080, B.internal ,': new Set(['a.internal:8080', 'b.internal']),
    '[::1]:8443': new Set(['[::1]:8443']),
  },
  returnHosts: {
    'localhost:8080, App': new Set(['localhost:8080', 'app']),
    '[::1]': new Set(['[::1]']),
  },
  serviceName: { "Rowan's <market>": "Rowan's <market>", [LONGEST_NAME]: LONGEST_NAME },
  trustProxy: { true: true, false: false, TRUE: true },
  behaviour: { 'govuk-pay': 'govuk-pay' },
  console: { true: true, false: false },
  control: { true: true, FALSE: false },
  recordMax: { 1: 1024 * 1024, 999999: 999_999 * 1024 * 1024 },
  metricsPort: { 9464: 9464 },
  logLevel: { debug: 'debug', SILENT: 'silent' },
}

/** Any text is a host. */
const bad: Record<Exclude<keyof Settings, 'host'>, string[]> = {
  port: ['-1', '65536', '80a', '3e3', '80.5', '0x50'],
  database: [
    'sqlite:',
    'sqlite://data/farthing.db',
    'sqlite:file:farthing.db',
    'data/farthing.db',
    'postgres://a:b:c',
    'postgres://me:secret:5432',
    'mysql://me:secret@db/farthing',
    'me:secret@db/farthing',
    'host=db password=secret',
    'postgres://db:x?password=secret',
    'postgres://me:#secret@db/farthing',
    'postgres://me:secret%e9@db/farthing',
    'postgres://me:secret@/farthing?host=/cloudsql/a',
  ],
  apiKey: [
    'x'.repeat(15),
    `${'x'.repeat(16)}\n${'x'.repeat(16)}`,
    'schlüssel-zum-glück',
    'a key with spaces in it',
    `"${'x'.repeat(16)}"`,
  ],
  baseUrl: [
    'pay.example.org',
    'ftp://pay.example.org',
    'https://',
    'https://a b',
    'https://a/?',
    'https://a/b#',
    'https://me:secret@a',
    'me:secret@pay',
    'https://pay?key=secret',
    'https://a//b',
    '"https://a"',
  ],
  pagesUrl: ['/pay', 'javascript:alert(1)', 'https://a/v1'],
  url: ['127.0.0.1:3000', 'http://127.0.0.1:3000/v1'],
  callbackHosts: ['a b', '*.internal', 'https://a', 'a:0', '::1', 'a/b', 'a@b'],
  returnHosts: ['http://localhost', 'a:65536'],
  webhookUrl: [
    'localhost:4000',
    'ftp://a',
    'http://me:secret@a',
    'http://a:0',
    'http://a/b c',
    `http://a/${'x'.repeat(2_048)}`,
  ],
  signingKey: ['secret', `secret${'x'.repeat(16)}\n${'x'.repeat(16)}`, `"secret${'x'.repeat(16)}"`],
  serviceName: ['x'.repeat(51), 'a\nb', 'a\u0007b'],
  trustProxy: ['yes', '1', 'on'],
  behaviour: ['govuk', 'GOV.UK Pay', 'true'],
  console: ['yes', 'off'],
  control: ['yes', 'on'],
  recordMax: ['0', '1000000', '0.5', '1e3'],
  apiKeys: ['a=short'],
  metricsPort: ['65536', 'x'],
  logLevel: ['loud', 'warning'],
}

const named = <Values>(all: Record<string, Values>) =>
  Object.entries(all).map(
    ([key, values]) => [settings[key as keyof Settings].name, values, key as keyof Config] as const,
  )

test('Each setting has a default, which a blank variable does not change', () => {
  const defaults: Config = {
    port: 3000,
    host: '127.0.0.1',
    database: sqlite('data/farthing.db'),
    behaviour: 'specification',
    apiKey: undefined,
    fixedKeys: [],
    baseUrl: undefined,
    pagesUrl: undefined,
    url: 'http://127.0.0.1:3000',
    callbackHosts: new Set(),
    returnHosts: new Set(),
    control: false,
    fixedWebhook: undefined,
    serviceName: undefined,
    trustProxy: false,
    console: true,
    recordMax: 256 * 1024 * 1024,
    metricsPort: undefined,
    logLevel: 'info',
    isLibrary: false,
    warnings: [],
  }
  assert.deepEqual(readConfig({}), defaults)
  const blank = Object.fromEntries(SETTINGS.map(name => [name, ' ']))
  assert.deepEqual(readConfig(blank), defaults)
  assert.deepEqual(readConfig({ UNKNOWN: 'x', port: '1', Farthing_Api_Key: 'x' }), defaults)
})

for (const [name, values, key] of named(good))
  test(`${name} is read in each of its forms`, () => {
    for (const [text, value] of Object.entries(values))
      assert.deepEqual(readConfig({ [name]: text })[key], value, text)
  })

for (const [name, values] of named(bad))
  test(`${name} that cannot be used is reported in one line that begins with its name and holds no secret`, () => {
    for (const value of values) {
      const [problem = '', ...more] = problemsOf({ [name]: value })
      assert.ok(problem.startsWith(name), `${value}: ${problem}`)
      assert.deepEqual(more, [], value)
      assert.doesNotMatch(problem, /\n|secret/)
      if (name.endsWith('_KEY')) assert.ok(!problem.includes(value))
    }
  })

test('A value that cannot be used is repeated in the error', () => {
  for (const [name, value] of Object.entries({
    PORT: '3e3',
    DATABASE_URL: 'data/farthing.db',
    FARTHING_PAGES_URL: 'ftp://pay.example.org',
    FARTHING_CALLBACK_HOSTS: '*.internal',
    FARTHING_BEHAVIOUR: 'govuk',
    FARTHING_TRUST_PROXY: 'yes',
    LOG_LEVEL: 'loud',
  }))
    assert.match(String(problemsOf({ [name]: value })), new RegExp(RegExp.escape(`"${value}"`)))
  const [long = ''] = problemsOf({ PORT: '1'.repeat(10_000) })
  assert.ok(long.length < 200, 'a long value is cut')
})

test('An address that ends in /v1 is reported with the address to set', () => {
  for (const name of ['FARTHING_BASE_URL', 'FARTHING_URL', 'FARTHING_PAGES_URL'])
    assert.deepEqual(problemsOf({ [name]: 'http://pay:3000/v1/' }), [
      `${name} must not end in /v1, which Farthing adds itself: set it to http://pay:3000`,
    ])
})

test('An address without a scheme is reported with the address that may be meant', () => {
  const [problem] = problemsOf({ FARTHING_BASE_URL: 'pay:3000' })
  assert.match(problem ?? '', /It is "pay:3000": did you mean http:\/\/pay:3000\?$/)
  for (const other of ['/pay', 'javascript:alert(1)', 'ftp://pay'])
    assert.doesNotMatch(String(problemsOf({ FARTHING_BASE_URL: other })), /did you mean/)
})

test('An unknown FARTHING_ variable is a warning that suggests the nearest setting', () => {
  for (const [name, meant] of Object.entries({
    FARTHING_APIKEY: 'FARTHING_API_KEY',
    FARTHING_CALBACK_HOST: 'FARTHING_CALLBACK_HOSTS',
    FARTHING_PORT: 'PORT',
    FARTHING_DATABASE_URL: 'DATABASE_URL',
    FARTHING_LOGLEVEL: 'LOG_LEVEL',
  }))
    assert.deepEqual(readConfig({ [name]: 'x' }).warnings, [
      `${name} is not a Farthing setting and was ignored. Did you mean ${meant}?`,
    ])
  const [warning = ''] = readConfig({ FARTHING_COLOUR: 'red' }).warnings
  assert.match(warning, /ignored\. farthing --help lists the settings\.$/)
})

test('Every problem is reported at once', () => {
  const env = Object.fromEntries(named(bad).map(([name, [value = '']]) => [name, value]))
  const found = problemsOf(env).map(problem => /^[A-Z_]+/.exec(problem)?.[0])
  assert.deepEqual(found.sort(), Object.keys(env).sort())
})

test('A fixed webhook has an address and a signing key, and its host counts as listed', () => {
  const FARTHING_WEBHOOK_URL = 'http://Localhost:4000/hooks?a=b'
  const FARTHING_SIGNING_KEY = 'signing-key-of-ours'
  const env = { FARTHING_WEBHOOK_URL, FARTHING_SIGNING_KEY, FARTHING_CALLBACK_HOSTS: 'other' }
  const { fixedWebhook, callbackHosts } = readConfig(env)
  assert.deepEqual(fixedWebhook, {
    callback_url: FARTHING_WEBHOOK_URL,
    signing_key: FARTHING_SIGNING_KEY,
  })
  assert.deepEqual(callbackHosts, new Set(['other', 'localhost:4000']))
})

test('A fixed webhook without its other half is reported in one sentence without the key', () => {
  assert.deepEqual(problemsOf({ FARTHING_WEBHOOK_URL: 'http://localhost:4000' }), [
    'FARTHING_WEBHOOK_URL needs FARTHING_SIGNING_KEY: set both or neither',
  ])
  assert.deepEqual(problemsOf({ FARTHING_SIGNING_KEY: 'secret-signing-key' }), [
    'FARTHING_SIGNING_KEY needs FARTHING_WEBHOOK_URL: set both or neither',
  ])
})

test('The metrics cannot have the port of the service', () => {
  const [problem] = problemsOf({ PORT: '4000', FARTHING_METRICS_PORT: '4000' })
  assert.equal(problem, 'FARTHING_METRICS_PORT must differ from PORT: both are 4000')
})
