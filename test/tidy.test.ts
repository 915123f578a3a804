import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join, normalize, relative } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** How the house is kept: who may import what, how long a file may be, which names are none. */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LONGEST_FILE = 330

type Import = { from: string; to: string; typeOnly: boolean }

/** By their path in the repository; what is made from others is not among them. */
function readTexts(folder: string, extensions: string[]): Map<string, string> {
  const made = /(^|\/)(node_modules|dist|built|results|data)(\/|$)/
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map(path => join(folder, path))
    .filter(path => extensions.includes(extname(path)) && !made.test(path))
  return new Map(paths.map(path => [path, readFileSync(join(ROOT, path), 'utf8')]))
}

const sources = readTexts('src', ['.ts'])
const tests = readTexts('test', ['.ts'])
const code = new Map([...sources, ...tests, ...readTexts('scripts', ['.ts'])])
const docs = readTexts('docs', ['.md'])
for (const name of ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'bin/farthing.js', '.ci/run'])
  docs.set(name, readFileSync(join(ROOT, name), 'utf8'))

const IMPORT =
  /^\s*(?:import|export)\s+(type\s)?(?:[^'"]*?from\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm

const imports: Import[] = [...sources].flatMap(([from, text]) =>
  [...text.matchAll(IMPORT)].map(([, type, name, dynamic]) => {
    const to = name ?? dynamic ?? ''
    const path = to.startsWith('.') ? normalize(join(dirname(from), to)) : to
    return { from, to: path, typeOnly: type !== undefined }
  }),
)

/** The part of src that a file belongs to: its folder, or itself. */
const partOf = (path: string): string => relative('src', path).split('/')[0] ?? path

/** Lines of the files, as `path:line: text`, that match; `allowed` files are left out. */
function found(texts: Map<string, string>, pattern: RegExp, allowed: string[] = []): string[] {
  return [...texts]
    .filter(([path]) => !allowed.includes(path) && path !== 'test/tidy.test.ts')
    .flatMap(([path, text]) =>
      text
        .split('\n')
        .flatMap((line, i) => (pattern.test(line) ? `${path}:${i + 1}: ${line.trim()}` : [])),
    )
}

/** Which slices each slice builds on. What is not here builds on none. */
const arrows: Record<string, string[]> = {
  hosted: ['payments'],
  refunds: ['payments'],
  disputes: ['payments'],
  payments: ['agreements', 'webhooks'],
  seed: ['accounts', 'agreements', 'payments', 'refunds'],
  about: ['agreements', 'disputes', 'hosted', 'payments', 'refunds', 'webhooks'],
}
const slices = [
  'accounts',
  'about',
  'agreements',
  'disputes',
  'hosted',
  'payments',
  'refunds',
].concat('webhooks', 'metrics', 'seed')

/** What slices stand on. */
const floor = ['http', 'database', 'ports.ts', 'errors.ts', 'ids.ts', 'time.ts'].concat(
  'until-written.ts',
  'retention.ts',
  'log.ts',
)

describe('The arrows between the parts', () => {
  test('are known: every part of src is a slice, the floor or the composition', () => {
    const roots = ['main.ts', 'serve.ts', 'app.ts', 'announce.ts', 'config.ts', 'farthing.ts']
    const rest = ['start-problem.ts', 'version.ts']
    const known = [...slices, ...floor, ...roots, ...rest]
    const parts = new Set([...sources.keys()].map(partOf))
    assert.deepEqual(
      [...parts].filter(part => !known.includes(part)),
      [],
    )
  })

  test('lead from slice to slice only where one builds on the other', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [a, b] = [partOf(from), partOf(to)]
      // What a card is, is a noun of both: an agreement keeps the card of the payment that set it up.
      if (a === 'agreements' && to === 'src/payments/card.ts') return false
      return a !== b && slices.includes(a) && slices.includes(b) && !arrows[a]?.includes(b)
    })
    assert.deepEqual(wrong, [])
  })

  test('lead from the floor to no slice, but from the bearer to the keys', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        floor.includes(partOf(from)) &&
        slices.includes(partOf(to)) &&
        !(from === 'src/http/bearer.ts' && to === 'src/accounts/store.ts'),
    )
    assert.deepEqual(wrong, [])
  })

  test('lead from no slice to a database, but for how texts are folded', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        slices.includes(partOf(from)) &&
        to.startsWith('src/database/') &&
        to !== 'src/database/fold.ts' &&
        !from.endsWith('/command.ts'), // a process of its own opens its own
    )
    assert.deepEqual(wrong, [])
  })

  test('lead to node:sqlite and pg from src/database alone, to Fastify from no noun', () => {
    const databases = imports.filter(
      ({ from, to }) => (to === 'node:sqlite' || to === 'pg') && !from.startsWith('src/database/'),
    )
    assert.deepEqual(databases, [])
    const nouns = ['payment', 'card', 'agreement', 'refund', 'webhook', 'present', 'store'].map(
      name => `${name}.ts`,
    )
    const webbed = imports.filter(
      ({ from, to }) => to === 'fastify' && nouns.includes(from.split('/').pop() ?? ''),
    )
    assert.deepEqual(webbed, [])
  })

  test('of the nouns lead to nouns alone', () => {
    const nouns = ['payments/payment', 'payments/card', 'agreements/agreement', 'refunds/refund']
      .concat('webhooks/webhook', 'webhooks/address')
      .map(name => `src/${name}.ts`)
    const pure = [...nouns, 'src/ids.ts', 'src/time.ts', 'src/ports.ts']
    const wrong = imports.filter(
      ({ from, to }) => nouns.includes(from) && !pure.includes(to) && !to.startsWith('node:'),
    )
    assert.deepEqual(wrong, [])
  })

  test('make no circle', () => {
    const next = Map.groupBy(
      imports.filter(({ to, typeOnly }) => sources.has(to) && !typeOnly),
      ({ from }) => from,
    )
    const done = new Set<string>()
    const circles: string[] = []
    const walk = (path: string, way: string[]): void => {
      if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' -> '))
      if (done.has(path) || way.includes(path)) return
      for (const { to } of next.get(path) ?? []) walk(to, [...way, path])
      done.add(path)
    }
    for (const path of sources.keys()) walk(path, [])
    assert.deepEqual(circles, [])
  })
})

describe('What comes from outside comes through a port:', () => {
  test('the environment is read by src/config.ts, which src/main.ts hands it to', () => {
    assert.deepEqual(found(sources, /process\.env/, ['src/config.ts', 'src/main.ts']), [])
  })

  test('the time is asked for where a process begins', () => {
    const allowed = [
      'src/serve.ts', // makes the clock of the service
      'src/log.ts', // when a line was written
      'src/accounts/command.ts', // a command, which is a process of its own
      'src/seed/command.ts', // likewise
    ]
    assert.deepEqual(found(sources, /Date\.now|new Date\(\)/, allowed), [])
  })

  test('a stopwatch is held only where something outside is waited for', () => {
    const allowed = [
      'src/main.ts', // two signals of one key press
      'src/http/overload.ts', // turns of the event loop
      'src/webhooks/send.ts', // how long a receiver takes
      'src/metrics/metrics.ts',
    ]
    assert.deepEqual(found(sources, /performance\.now|hrtime/, allowed), [])
  })

  test('randomness is that of src/ids.ts', () => {
    const allowed = [
      'src/ids.ts',
      'src/database/postgres.ts', // waits a while, no two instances the same
    ]
    const sourcesOfChance = /Math\.random|randomBytes|randomUUID|randomInt|getRandomValues/
    assert.deepEqual(found(sources, sourcesOfChance, allowed), [])
  })

  test('the process is touched by src/main.ts, and its output by who writes it', () => {
    const allowed = ['src/main.ts', 'src/announce.ts', 'src/log.ts']
    assert.deepEqual(found(sources, /process\.(exit|on|std|argv|kill)|console\./, allowed), [])
  })

  test('SQL is in stores, where pages are found, in the sweep and in src/database', () => {
    const sql = /\b(select .+ from|insert into|delete from|update \w+ set)\b/
    const allowed = [...sources.keys()].filter(
      path => path.endsWith('/store.ts') || path.startsWith('src/database/'),
    )
    assert.deepEqual(
      found(sources, sql, [
        ...allowed,
        'src/http/find-page.ts',
        'src/payments/count.ts',
        'src/retention.ts',
      ]),
      [],
    )
  })
})

describe('A file', () => {
  test(`has at most ${LONGEST_FILE} lines`, () => {
    const long = [...code]
      .map(([path, text]) => `${path}: ${text.split('\n').length - 1}`)
      .filter(line => Number(line.split(': ')[1]) > LONGEST_FILE)
    assert.deepEqual(long, [])
  })

  test('is named for what is in it', () => {
    const banned = /^(utils?|helpers?|common|misc|shared|manager|service|base|index|types)\.ts$/
    const names = [...sources.keys()].filter(path => banned.test(path.split('/').pop() ?? ''))
    assert.deepEqual(names, [])
    const written = [...code.keys()].filter(path => !/^[a-z0-9/.-]+$/.test(path))
    assert.deepEqual(written, [], 'small letters, digits and hyphens')
  })

  test('names no type that says nothing, and throws no type away', () => {
    assert.deepEqual(
      found(sources, /:\s*any\s*([=;,)>|&[{]|$)|\bas any\b|<any\b|@ts-(ignore|nocheck)/),
      [],
    )
    assert.deepEqual(found(tests, /\bas any\b|@ts-(ignore|nocheck)/), [])
  })

  test('has what TypeScript only erases: no enum, no namespace, no class of its own', () => {
    assert.deepEqual(found(code, /^\s*(export\s+)?(declare\s+)?(const\s+)?(enum|namespace)\s/), [])
    assert.deepEqual(found(sources, /^\s*(export\s+)?(abstract\s+)?class\s+\w+\s*[{<]/), [])
    assert.deepEqual(found(sources, /export default|export \*/), [])
  })

  test('leaves nothing to be done', () => {
    assert.deepEqual(found(new Map([...code, ...docs]), /\b(TODO|FIXME|XXX|HACK)\b/), [])
  })

  test('says nothing of the machine on which it was written, or of what only its writers have', () => {
    const local = /(^|[\s'"`(=])\/(work|home|Users|root)\/|\b(CONTRACT|DESIGN|SPEC|STYLE)\.md/
    assert.deepEqual(found(new Map([...code, ...docs]), local), [])
  })
})

describe('A test', () => {
  test('is never skipped, never alone, and has not been put off', () => {
    const off =
      /\b(test|it|describe|suite)\.(skip|only|todo)\b|\{\s*(skip|only|todo)\b|\bt\.(skip|todo)\(/
    assert.deepEqual(found(tests, off), [])
  })

  test('is in a file that the runner finds', () => {
    const lost = [...tests].filter(
      ([path, text]) =>
        !path.endsWith('.test.ts') &&
        !/^test\/(support|faults|long|browser)\//.test(path) &&
        /^\s*(test|describe)\(/m.test(text),
    )
    assert.deepEqual(
      lost.map(([path]) => path),
      [],
    )
  })
})
