import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
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
    const table = read('README.md').split('## Configuration')[1]?.split('\n## ')[0] ?? ''
    const listed = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    )
    assert.deepEqual([...new Set(listed)].sort(), [...new Set(coded)].sort())
    for (const name of coded)
      assert.match(read('src/main.ts'), new RegExp(`^ {2}.*\\b${name}\\b`, 'm'))
  })

  test('the README shows the signature examples as they are run by a test', () => {
    const python = read('examples/verify_signature.py')
    const [, isSigned = ''] = /(def is_signed[\s\S]+?)\n{3}/.exec(python) ?? []
    for (const example of [read('examples/verify-signature.ts').trim(), isSigned])
      assert.ok(example.length > 100 && read('README.md').includes(`\n${example}\n`))
  })

  test('each gap of the specification names a test that exists', () => {
    const rows = read('docs/spec-gaps.md')
      .split('\n')
      .filter(line => /^\| (?!Gap \|)/.test(line))
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
