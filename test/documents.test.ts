import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { withTable } from '../scripts/differences-table.ts'
import { settings } from '../src/app/settings.ts'
import { EXIT } from '../src/cli/command-error.ts'
import { loadCommands } from '../src/cli/commands.ts'
import type { Command, CommandGroup } from '../src/cli/define-command.ts'
import { flagOf, isGroup } from '../src/cli/program.ts'
import { onlyByPlan } from '../src/core/codes.ts'
import { choices, type Status } from '../src/pay/payments/payment.ts'
import { transitions } from '../src/pay/payments/transitions.ts'
import { eventTypesOf } from '../src/pay/webhooks/webhook.ts'
import { rawBody } from '../src/tools/explain/signature/advice.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const glob = (pattern: string): string[] => globSync(pattern, { cwd: ROOT })
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...glob('docs/**/*.md'),
]

test('The documents link only to files and sections that exist', () => {
  const broken = documents.flatMap(document =>
    [...read(document).matchAll(/(?:\]\(|src=")(?!https?:)([^)"#\s]*)(?:#([^)"\s]*))?/g)]
      .filter(([, target = '', section]) => {
        const path = target === '' ? document : join(dirname(document), target)
        if (!existsSync(join(ROOT, path))) return true
        return section !== undefined && !anchorsOf(path).includes(section)
      })
      .map(([link]) => `${document}: ${link}`),
  )
  assert.deepEqual(broken, [])
})

test('The documents name only paths of the repository that exist, except placeholders', () => {
  const path = /(?<![\w./-])(?:bench|bin|docs|examples|scripts|src|test)\/[\w./<>*{}…-]*/g
  const missing = documents.flatMap(document =>
    [...read(document).matchAll(path)]
      .map(([named]) => named.replace(/\.+$/, ''))
      .filter(named => !/[<*{…]/.test(named) && !existsSync(join(ROOT, named)))
      .map(named => `${document}: ${named}`),
  )
  assert.deepEqual(missing, [])
})

test('Each variable that a document, an example or the source names is a setting', () => {
  const others = ['PORT', 'RECEIVER_HOST', 'TEST_POSTGRES_BINARIES', 'TEST_SEED']
  const known = new Set(others.map(name => `FARTHING_${name}`))
  for (const { name } of Object.values(settings)) known.add(name)
  const texts = [...documents, ...glob('{examples,src}/**/*.{cs,go,java,php,py,rb,ts,yaml}')]
  for (const path of texts) {
    const names = read(path).match(/\bFARTHING_[A-Z][A-Z_]*\b/g) ?? []
    const unknown = names.filter(name => !known.has(name))
    assert.deepEqual(unknown, [], `${path}: ${unknown}`)
  }
})

test('Each example that names FARTHING_CALLBACK_HOSTS names FARTHING_RETURN_HOSTS as often, so that a shop on http can be paid', () => {
  const timesOf = (path: string, name: string) => read(path).split(name).length - 1
  const examples = glob('examples/**/*.{py,rb,go,php,java,cs,ts,yaml}').filter(path =>
    timesOf(path, 'FARTHING_CALLBACK_HOSTS'),
  )
  assert.equal(examples.length, 9, String(examples))
  for (const path of examples) {
    const [of, other] = ['RETURN', 'CALLBACK'].map(kind => timesOf(path, `FARTHING_${kind}_HOSTS`))
    assert.equal(of, other, path)
  }
})

test('The README has at most 900 words', () => {
  const words = read('README.md').split(/\s+/).length
  assert.ok(words <= 900, `the README has ${words} words`)
})

test('The state diagram shows exactly the moves of the transition table', () => {
  const [, ...diagrams] = read('docs/architecture.md').split('stateDiagram-v2')
  const drawn = diagrams.map(diagram =>
    [...diagram.matchAll(/^ {2}(\w+) --> (\w+): (.+)$/gm)].flatMap(([, from, to, triggers = '']) =>
      triggers.split(', ').map(trigger => `${from} ${trigger} ${to}`),
    ),
  )
  const coded = Object.values(transitions).map(table =>
    Object.entries(table).flatMap(([trigger, rows]) =>
      rows.flatMap(({ from, through }) =>
        endsOf(through.at(-1) ?? from).map(to => `${from} ${trigger} ${to}`),
      ),
    ),
  )
  const inOrder = (moves: string[][]) => moves.map(each => [...new Set(each)].sort())
  assert.deepEqual(inOrder(drawn), inOrder(coded))
})

test('docs/architecture.md lists every table of the database', () => {
  const files = [
    'src/platform/database/migrate.ts',
    ...glob('src/platform/database/migrations/*.sql'),
  ]
  const made = files.flatMap(file =>
    [...read(file).matchAll(/create table (?:if not exists )?(\w+) \(/g)].map(([, name]) => name),
  )
  const stored = sectionOf('docs/architecture.md', 'What is stored')
  const listed = [...stored.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  assert.deepEqual(listed.sort(), made.sort())
})

test('docs/architecture.md names every folder of src', () => {
  const tree = sectionOf('docs/architecture.md', 'The tree')
  const folders = glob('src/*/*/').map(folder => folder.split('/').at(-1) ?? '')
  assert.ok(folders.length > 15)
  const absent = folders.filter(folder => !tree.includes(`\`${folder}/\``))
  assert.deepEqual(absent, [])
})

test('docs/testing.md lists each scenario of the picker', () => {
  const table = sectionOf('docs/testing.md', 'Choose how a payment ends')
  const named = [...table.matchAll(/^\|[^|]*\| "[^"]+" \(`(\w+)`\)/gm)].map(([, name]) => name)
  assert.deepEqual(named, choices)
})

/** `/** Bytes of a page. Held by test/a.test.ts. *\/ export const PAGE_BYTES = 1 * MB` */
const BUDGET = /\/\*\* (.+?\.) Held by (.+?)\. \*\/\nexport const (\w+) = (.+)\n/g
const source = read('src/core/budgets.ts')
const budgets = [...source.matchAll(BUDGET)].map(
  ([, meaning = '', held = '', name = '', value = '']) => ({
    name,
    meaning,
    files: held.split(/, | and /),
    number: value.replace(' * ', ' ').replaceAll('_', ','),
  }),
)

test('docs/reliability.md has every budget, with its number', () => {
  assert.equal(budgets.length, source.match(/^export const/gm)?.length)
  const rows = budgets.map(
    ({ name, meaning, number }) => `| \`${name}\` | ${number} | ${meaning.slice(0, -1)} |`,
  )
  assert.deepEqual(rowsOf('docs/reliability.md', 'Budgets', '| `'), rows)
})

for (const { name, files, number } of budgets)
  test(`${name} is named, or its number, by a test that exists`, () => {
    const [count = '', unit] = number.split(' ')
    const bytes = unit === 'MB' ? `${count} * 1024 * 1024` : `${count} * 1024`
    const numbers = unit
      ? [number, `${count} ${unit.replace('B', 'iB')}`, bytes]
      : [number, count.replaceAll(',', '_')]
    for (const file of files) {
      const text = read(file)
      assert.ok(
        [name, ...numbers].some(each =>
          new RegExp(`(?<!\\w|\\d,)${each.replaceAll('*', '\\*')}(?!\\w|,\\d)`).test(text),
        ),
        `${file} names neither ${name} nor ${numbers.join(' or ')}`,
      )
    }
  })

test('The table of settings in docs/reference.md is the one that the configuration makes', () => {
  const rows = Object.values(settings).map(
    ({ name, initial = '', meaning }) => `| \`${name}\` | ${initial} | ${meaning} |`,
  )
  assert.deepEqual(rowsOf('docs/reference.md', 'Settings', '| `'), rows)
})

test('The tables of commands and exit codes in docs/reference.md are those of the commands', async () => {
  const commands = listCommands(await loadCommands())
  const section = sectionOf('docs/reference.md', 'Commands')
  const rows = [...section.matchAll(/^\| `farthing ([a-z]+(?: [a-z]+)?).*/gm)]
  const shown = rows.map(([, name]) => name)
  assert.deepEqual(shown, [...commands.keys(), 'completion'])
  for (const [row, name = ''] of rows) {
    const { options = {}, argument } = commands.get(name) ?? {}
    const { url, key, json, ...own } = options
    const named = new Set(row.match(/--[a-z-]+/g))
    assert.deepEqual([...named].sort(), Object.keys(own).map(flagOf).sort(), name)
    if (argument) assert.match(row, /^\| `farthing [a-z ]+ \[?([A-Z_]+|[a-z]+\\\|)/)
  }
  const [, speaking = ''] = /\. ([^.]+)\sspeak to the service/.exec(section) ?? []
  assert.deepEqual(
    [...speaking.matchAll(/`(\w+)/g)].map(([, name]) => name).sort(),
    [...commands.keys()].filter(name => commands.get(name)?.options?.url).sort(),
  )
  for (const code of [EXIT.failed, EXIT.wrong]) {
    const [row] = new RegExp(`^\\| ${code} \\| .*`, 'm').exec(section) ?? []
    for (const [name, { exitCodes }] of commands)
      if (exitCodes?.[code])
        assert.match(row ?? '', new RegExp(`\`${name}\`[^.]*: ${exitCodes[code]}`))
  }
})

test('The documents show the signature examples exactly as another test runs them', () => {
  const examples = [
    /(\/\*\*\n \* True if the sender[\s\S]+?\n\})\n/.exec(read('examples/javascript/receiver.ts')),
    /(def is_signed[\s\S]+?)\n{3}/.exec(read('examples/python/receiver.py')),
  ]
  for (const [, example = ''] of examples.map(found => found ?? []))
    assert.ok(example.length > 100 && read('docs/laptop.md').includes(`\n${example}\n`))
})

test('docs/laptop.md has a line for each framework of the advice about signatures', () => {
  const rows = rawBody.calls?.map(({ framework, call }) => `| ${framework} | \`${call}\` |`)
  assert.ok(read('docs/laptop.md').includes(`|---|---|\n${rows?.join('\n')}\n\n`))
})

test('docs/spec-gaps.md names for each section of gaps tests that exist', () => {
  const [gaps = ''] = read('docs/spec-gaps.md').split('## Codes that only a plan answers with')
  const [, ...sections] = gaps.split('\n## ')
  assert.ok(sections.length > 7)
  const tests = glob('test/**/*.test.ts')
  for (const section of sections) {
    const [, line = ''] = /^Tests: (.+)\.$/m.exec(section) ?? []
    const names = [...line.matchAll(/`([a-z-]+(?:\/[a-z-]+)?)`/g)].map(([, name]) => name)
    assert.ok(names.length > 0, section)
    for (const name of names) {
      const found = tests.some(file => RegExp(`^test/${name}(/.+)?\\.test\\.ts$`).test(file))
      assert.ok(found, `no test is named test/${name}`)
    }
  }
})

test('docs/spec-gaps.md has the table of differences as the service decides them', () => {
  const gaps = read('docs/spec-gaps.md')
  assert.equal(gaps, withTable(gaps), 'npm run examples writes it')
})

test('docs/spec-gaps.md has every code that only a plan answers with', () => {
  const place = ['docs/spec-gaps.md', 'Codes that only a plan answers with'] as const
  const codes = Object.entries<{ status: number; of: readonly string[]; text: string }>(onlyByPlan)
  const isFault = ({ text }: { text: string }) => text === onlyByPlan.P0198.text
  const expected = codes.flatMap(([code, planned]) => {
    const { status, of, text } = planned
    const operations = of.length > 0 ? `: ${of.join(', ')}` : ''
    return isFault(planned) ? [] : [`| ${code}, ${status}${operations} | ${text} |`]
  })
  assert.deepEqual(rowsOf(...place, '| P'), expected)
  const faults = codes.flatMap(([code, planned]) =>
    isFault(planned) ? [`${code} ${planned.of.join(', ')}`] : [],
  )
  assert.match(
    sectionOf(...place),
    new RegExp(`${onlyByPlan.P0198.text}, 500: ${faults.join('; ')}\\.`, 'i'),
  )
})

test('docs/specification.md or docs/spec-gaps.md has a row for each event type of the specification, and none for another', () => {
  const section = sectionOf('docs/specification.md', 'Webhook event types')
  const gaps = read('docs/spec-gaps.md').split('## Where GOV.UK Pay differs')[0]
  for (const type of eventTypesOf.specification)
    assert.match(section + gaps, new RegExp(`^\\| .*\`${type}\``, 'm'))
  for (const [, name = ''] of section.matchAll(/^\| `(\w+)`/gm))
    assert.ok(
      eventTypesOf.specification.some(type => type === name),
      name,
    )
})

test('docs/specification.md has every section that the code cites', () => {
  const sections = new Set(headingsOf('docs/specification.md'))
  const missing = [...glob('src/**/*.ts'), ...glob('test/**/*.ts')].flatMap(file =>
    [...read(file).matchAll(/Specification, \*([^*]+)\*/g)]
      .map(([, section = '']) => section.replace(/\s+(\* )?/g, ' '))
      .filter(section => !sections.has(section))
      .map(section => `${file}: ${section}`),
  )
  assert.deepEqual(missing, [])
})

/** "authorised" is success or, with delayed capture, capturable. */
const endsOf = (status: Status | 'authorised'): Status[] =>
  status === 'authorised' ? ['success', 'capturable'] : [status]

/** All commands by name, such as `keys create`. */
const listCommands = (commands: Record<string, Command | CommandGroup>) =>
  new Map(
    Object.entries(commands).flatMap(([name, each]): [string, Command][] =>
      isGroup(each)
        ? Object.entries(each.commands).map(([part, command]) => [`${name} ${part}`, command])
        : [[name, each]],
    ),
  )

const sectionOf = (document: string, heading: string): string =>
  read(document).split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''

const rowsOf = (document: string, heading: string, beginning: string): string[] =>
  sectionOf(document, heading)
    .split('\n')
    .filter(line => line.startsWith(beginning))

const headingsOf = (document: string): string[] =>
  [...read(document).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)

/** The anchors that GitHub gives to the headings of a document. */
const anchorsOf = (document: string): string[] =>
  headingsOf(document).map(heading =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
