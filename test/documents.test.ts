import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { scenario } from '../src/hosted/describe.ts'
import { scenarios } from '../src/hosted/journey.ts'
import { type Status, transitions } from '../src/payments/payment.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...globSync('docs/**/*.md', { cwd: ROOT }),
]

describe('The documents are true', () => {
  test('every link to a file of the repository leads somewhere', () => {
    const broken = documents.flatMap(document =>
      [...read(document).matchAll(/(?:\]\(|src=")(?!https?:)([^)"#\s]+)/g)]
        .map(([, target = '']) => target)
        .filter(target => !existsSync(join(ROOT, dirname(document), target)))
        .map(target => `${document}: ${target}`),
    )
    assert.deepEqual(broken, [])
  })

  test('every path of the repository that a text names is there, but for placeholders', () => {
    const path = /(?<![\w./-])(?:bench|bin|docs|examples|scripts|src|test)\/[\w./<>*{}…-]*/g
    const missing = documents.flatMap(document =>
      [...read(document).matchAll(path)]
        .map(([named]) => named.replace(/\.+$/, ''))
        .filter(named => !/[<*{…]/.test(named) && !existsSync(join(ROOT, named)))
        .map(named => `${document}: ${named}`),
    )
    assert.deepEqual(missing, [])
  })

  test('the map of the house has every part of src', () => {
    const map = fenceOf('The house').split(/\s+/)
    const parts = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).map(
      entry => `src/${entry.name}${entry.isDirectory() ? '/' : ''}`,
    )
    assert.deepEqual(
      parts.filter(part => !map.includes(part)),
      [],
    )
  })

  test('the diagram of the slices has exactly the imports of the code', () => {
    const drawn = fenceOf('Who builds on whom').trim().split('\n').flatMap(arrowsOf)
    const coded = globSync('src/*/**/*.ts', { cwd: ROOT }).flatMap(file =>
      [...read(file).matchAll(/from '(?:\.\.\/)+(\w+)\//g)].map(
        ([, to]) => `${file.split('/')[1]} -> ${to}`,
      ),
    )
    // The floor, a slice's own folders, and the exception that the text names.
    const undrawn = /^(http|database) ->|-> (http|database)$|^(\w+) -> \3$|^agreements -> payments$/
    assert.deepEqual(drawn.sort(), [...new Set(coded)].filter(arrow => !undrawn.test(arrow)).sort())
  })

  test('the table of what is stored has every table of the database', () => {
    const files = [
      'src/database/migrate.ts',
      ...globSync('src/database/migrations/*.sql', { cwd: ROOT }),
    ]
    const made = files.flatMap(file =>
      [...read(file).matchAll(/create table (?:if not exists )?(\w+) \(/g)].map(([, name]) => name),
    )
    const [, stored = ''] = read('docs/architecture.md').split('## What is stored')
    const listed = [...stored.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    assert.deepEqual(listed.sort(), made.sort())
  })

  test('the state diagram has exactly the moves of the transition table', () => {
    const drawn = [
      ...read('docs/architecture.md').matchAll(/^ {2}(\w+) --> (\w+): (.+)$/gm),
    ].flatMap(([, from, to, triggers = '']) =>
      triggers.split(', ').map(trigger => `${from} ${trigger} ${to}`),
    )
    const coded = Object.entries(transitions).flatMap(([trigger, rows]) =>
      rows.flatMap(({ from, through }) =>
        endsOf(through.at(-1) ?? from).map(to => `${from} ${trigger} ${to}`),
      ),
    )
    assert.deepEqual(drawn.sort(), coded.sort())
  })

  test('the README and the description of the pages name each scenario of the picker', () => {
    const [, table = ''] = read('docs/testing.md').split('## Choose how a payment ends')
    const named = [...table.matchAll(/^\|[^|]*\| "[^"]+" \(`(\w+)`\)/gm)].map(([, name]) => name)
    assert.deepEqual(named, scenarios)
    const described = [...scenario.description.matchAll(/`(\w+)`/g)].map(([, name]) => name)
    assert.deepEqual(described, scenarios)
  })

  test('the path of a request names functions that exist where it says', async () => {
    const steps = [...read('docs/architecture.md').matchAll(/^\d\. `(src\/\S+)`(?: `(\w+)`)?/gm)]
    assert.ok(steps.length >= 9)
    for (const [, file = '', name] of steps) {
      const source = read(file)
      if (name)
        assert.match(source, new RegExp(`export (async )?(function|const) ${name}\\b`), file)
    }
  })

  test('the README and the help list each variable of the configuration, the README no other', () => {
    const coded = [
      ...read('src/config.ts').matchAll(/(?:read(?:<[^>]*>)?\(\s*|env\.)'?([A-Z][A-Z_]+)\b/g),
    ].map(([, name]) => name)
    const table = read('docs/reference.md').split('## Settings')[1]?.split('\n## ')[0] ?? ''
    const listed = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    )
    assert.deepEqual([...new Set(listed)].sort(), [...new Set(coded)].sort())
    for (const name of coded)
      assert.match(read('src/cli/main.ts'), new RegExp(`^ {2}.*\\b${name}\\b`, 'm'))
  })

  test('the README shows the signature examples as they are run by a test', () => {
    const python = read('examples/verify_signature.py')
    const [, isSigned = ''] = /(def is_signed[\s\S]+?)\n{3}/.exec(python) ?? []
    for (const example of [read('examples/verify-signature.ts').trim(), isSigned])
      assert.ok(example.length > 100 && read('docs/laptop.md').includes(`\n${example}\n`))
  })

  test('each gap of the specification names a test that exists', () => {
    const [gaps = ''] = read('docs/spec-gaps.md').split('## Where GOV.UK Pay answers otherwise')
    const rows = gaps.split('\n').filter(line => /^\| (?!Gap \|)/.test(line))
    assert.ok(rows.length > 90)
    for (const row of rows) {
      const [, name = ''] = /`([a-z-]+(?:\/[a-z-]+)?)` \|$/.exec(row) ?? []
      const found = globSync([`test/${name}/**/*.test.ts`, `test/${name}.test.ts`], { cwd: ROOT })
      assert.ok(found.length > 0, `no test is named test/${name}: ${row}`)
    }
  })
})

/** "authorised" is success or, with delayed capture, capturable. */
const endsOf = (status: Status | 'authorised'): Status[] =>
  status === 'authorised' ? ['success', 'capturable'] : [status]

/** The first fence below a heading of docs/architecture.md. */
const fenceOf = (heading: string): string => {
  const [, below = ''] = read('docs/architecture.md').split(`## ${heading}\n`)
  return /```\w*\n([\s\S]+?)```/.exec(below)?.[1] ?? ''
}

/** Of "a, b -> c -> d" the arrows a -> c, b -> c and c -> d. */
const arrowsOf = (line: string): string[] => {
  const groups = line.split(' -> ').map(group => group.split(', '))
  return groups.flatMap((from, i) =>
    from.flatMap(name => (groups[i + 1] ?? []).map(to => `${name} -> ${to}`)),
  )
}
