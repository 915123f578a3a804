import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Config, ConfigError, readConfig } from '../src/config.ts'

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

/** Values that are good, and what they are read as. */
const good: Record<string, [key: keyof Config, values: [text: string, value: unknown][]]> = {
  PORT: [
    'port',
    [
      ['0', 0],
      ['8080', 8080],
      ['65535', 65_535],
      [' 80 ', 80],
    ],
  ],
  HOST: [
    'host',
    [
      ['0.0.0.0', '0.0.0.0'],
      ['::1', '::1'],
      ['localhost', 'localhost'],
    ],
  ],
  DATABASE_URL: [
    'database',
    [
      ['sqlite:data/farthing.db', sqlite('data/farthing.db')],
      ['sqlite:/var/lib/a b.db', sqlite('/var/lib/a b.db')],
      ['sqlite:///var/lib/farthing.db', sqlite('///var/lib/farthing.db')],
      ['sqlite::memory:', sqlite(':memory:')],
      ['postgres://me:secret@db:5432/farthing', postgres('postgres://me:secret@db:5432/farthing')],
      ['POSTGRES://db/farthing', postgres('POSTGRES://db/farthing')],
      [
        'postgresql://db/farthing?sslmode=require',
        postgres('postgresql://db/farthing?sslmode=require'),
      ],
    ],
  ],
  FARTHING_API_KEY: [
    'apiKey',
    [
      ['x'.repeat(16), 'x'.repeat(16)],
      ['a key with spaces', 'a key with spaces'],
      ['schlüssel zum glück', 'schlüssel zum glück'],
    ],
  ],
  FARTHING_BASE_URL: [
    'baseUrl',
    [
      ['https://pay.example.org', 'https://pay.example.org'],
      ['http://localhost:3000/', 'http://localhost:3000'],
      ['https://pay.example.org/a//', 'https://pay.example.org/a'],
      ['HTTPS://Pay.Example.Org/farthing/api/', 'https://pay.example.org/farthing/api'],
    ],
  ],
  FARTHING_PAGES_URL: ['pagesUrl', [['http://10.0.0.1/pay', 'http://10.0.0.1/pay']]],
  FARTHING_CALLBACK_HOSTS: [
    'callbackHosts',
    [
      ['localhost', new Set(['localhost'])],
      [' a.internal:8080, B.internal ,', new Set(['a.internal:8080', 'b.internal'])],
      ['[::1]:8443', new Set(['[::1]:8443'])],
    ],
  ],
  FARTHING_TRUST_PROXY: [
    'trustProxy',
    [
      ['true', true],
      ['false', false],
      ['TRUE', true],
    ],
  ],
  FARTHING_METRICS_PORT: ['metricsPort', [['9464', 9464]]],
  LOG_LEVEL: [
    'logLevel',
    [
      ['debug', 'debug'],
      ['SILENT', 'silent'],
    ],
  ],
}

const bad: Record<string, string[]> = {
  PORT: ['-1', '65536', '99999999999', '80a', '3e3', '80.5', '0x50', ':80'],
  DATABASE_URL: [
    'sqlite:',
    'sqlite',
    'sqlite://data/farthing.db',
    'sqlite:file:farthing.db',
    'data/farthing.db',
    'mysql://a',
    'postgres://a:b:c',
    'file:a',
  ],
  FARTHING_API_KEY: ['short', 'x'.repeat(15), `${'x'.repeat(16)}\n${'x'.repeat(16)}`],
  FARTHING_BASE_URL: [
    'pay.example.org',
    'ftp://pay.example.org',
    'https://',
    'https://a b',
    'https://a/?b',
    'https://a/#b',
    'https://a/?',
    'https://a/b#',
    'https://me:secret@a',
    'https://a//b',
    '//a',
  ],
  FARTHING_PAGES_URL: ['/pay', 'javascript:alert(1)'],
  FARTHING_CALLBACK_HOSTS: [
    'a b',
    '*.internal',
    'https://a',
    'a:0',
    'a:65536',
    '::1',
    'a/b',
    'a@b',
  ],
  FARTHING_TRUST_PROXY: ['yes', '1', 'on'],
  FARTHING_METRICS_PORT: ['65536', 'x'],
  LOG_LEVEL: ['loud', 'warning'],
}

describe('The configuration', () => {
  test('has a default for everything', () => {
    const defaults: Config = {
      port: 3000,
      host: '127.0.0.1',
      database: sqlite('data/farthing.db'),
      apiKey: undefined,
      baseUrl: undefined,
      pagesUrl: undefined,
      callbackHosts: new Set(),
      trustProxy: false,
      metricsPort: undefined,
      logLevel: 'info',
      unknown: [],
    }
    assert.deepEqual(readConfig({}), defaults)
    const blank = Object.fromEntries(Object.keys(good).map(name => [name, ' ']))
    assert.deepEqual(readConfig(blank), defaults)
    assert.deepEqual(readConfig({ UNKNOWN: 'x', port: '1', Farthing_Api_Key: 'x' }), defaults)
  })

  for (const [name, [key, values]] of Object.entries(good))
    test(`${name} is read`, () => {
      for (const [text, value] of values)
        assert.deepEqual(readConfig({ [name]: text })[key], value, text)
    })

  for (const [name, values] of Object.entries(bad))
    test(`${name} that cannot be used is one line that names it and does not repeat a secret`, () => {
      for (const value of values) {
        const [problem = '', ...more] = problemsOf({ [name]: value })
        assert.ok(problem.startsWith(name), `${value}: ${problem}`)
        assert.deepEqual(more, [], value)
        assert.doesNotMatch(problem, /\n|secret/)
        if (name === 'FARTHING_API_KEY') assert.ok(!problem.includes(value))
      }
    })

  test('tells all that is wrong at once', () => {
    const env = Object.fromEntries(Object.entries(bad).map(([name, [value = '']]) => [name, value]))
    const named = problemsOf(env).map(problem => /^[A-Z_]+/.exec(problem)?.[0])
    assert.deepEqual(named.sort(), Object.keys(bad).sort())
  })
})
