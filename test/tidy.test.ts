import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** House rules that no built-in rule of Biome can express. The others are in biome.json. */

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const words = (text: string): string[] => text.trim().split(/\s+/)

/** The texts by their path in the repository, without generated files. */
function readTexts(folder: string, extensions: string[]): Map<string, string> {
  const generated = /(^|\/)(node_modules|dist|built|results|data)(\/|$)/
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map(path => join(folder, path))
    .filter(path => extensions.includes(extname(path)) && !generated.test(path))
  return new Map(paths.map(path => [path, readFileSync(join(ROOT, path), 'utf8')]))
}

const sources = readTexts('src', ['.ts'])
const tests = readTexts('test', ['.ts'])
const code = new Map([...sources, ...tests, ...readTexts('scripts', ['.ts'])])
const documents = readTexts('docs', ['.md'])
const others = 'README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md bin/farthing.js .ci/run'
for (const name of words(others)) documents.set(name, readFileSync(join(ROOT, name), 'utf8'))

/** Matching lines as `path:line: text`, except in the files that are allowed. */
function find(texts: Map<string, string>, pattern: RegExp, allowed: string[] = []): string[] {
  return [...texts]
    .filter(([path]) => !allowed.includes(path) && path !== 'test/tidy.test.ts')
    .flatMap(([path, text]) =>
      text
        .split('\n')
        .flatMap((line, i) => (pattern.test(line) ? `${path}:${i + 1}: ${line.trim()}` : [])),
    )
}

// Biome restricts imports and globals, but not a property of a global or a member of an import.
describe('A file of src', () => {
  test('reads the machine’s time only where a process starts or a line is logged', () => {
    const allowed = words(`
      core/time core/log cli/doctor-service cli/doctor-webhooks cli/keys cli/listen cli/listen-deliver cli/logs cli/open
      cli/seed`)
    const files = allowed.map(name => `src/${name}.ts`)
    assert.deepEqual(find(sources, /Date\.now|new Date\(\)/, files), [])
  })

  test('measures durations only where it waits for something outside the process, or gives other work a turn', () => {
    const allowed = words(`
      core/turns cli/pay cli/serve cli/seed testing/host-globals app/background pay/webhooks/attempts
      platform/database/sqlite/sqlite platform/http/beginning platform/outbound/delivery-slots platform/outbound/send
      tools/control/wait tools/deliver/listeners tools/watch tools/explain/check/ask tools/explain/check/probing`)
    const files = allowed.map(name => `src/${name}.ts`)
    assert.deepEqual(find(sources, /performance\.now|hrtime/, files), [])
  })

  test('gets its randomness from src/core/ids.ts, except for the jitter between retries', () => {
    const allowed = ['src/core/ids.ts', 'src/core/retry.ts', 'src/testing/library.ts']
    const randomness = /Math\.random|randomBytes|randomUUID|randomInt|getRandomValues/
    assert.deepEqual(find(sources, randomness, allowed), [])
  })

  test('touches the process only where a command runs or is named, or a log is written', () => {
    const elsewhere = ['core/invocation', 'core/log', 'testing/library'].map(
      name => `src/${name}.ts`,
    )
    const allowed = [...sources.keys()].filter(path => path.startsWith('src/cli/'))
    const pattern = /process\.(exit|on|std|argv|kill)/
    assert.deepEqual(find(sources, pattern, [...allowed, ...elsewhere]), [])
  })

  // Biome does not read strings.
  test('holds SQL only if it is a store, the database, or pages or deletes rows', () => {
    const stores = [...sources.keys()].filter(
      path => path.endsWith('store.ts') || path.startsWith('src/platform/database/'),
    )
    const others = ['platform/http/search', 'pay/retention', 'cli/backup'].map(
      name => `src/${name}.ts`,
    )
    const sql = /^(?!import ).*\b(select .+ from|insert into|delete from|update \w+ set)\b/
    assert.deepEqual(find(sources, sql, [...stores, ...others]), [])
  })

  // useFilenamingConvention takes a pattern that names must match, not one that they must not.
  test('is named for its content', () => {
    const empty = /^(utils?|helpers?|common|misc|shared|manager|service|base|index|types)\.ts$/
    const nameless = [...sources.keys()].filter(path => empty.test(basename(path)))
    assert.deepEqual(nameless, [])
  })

  test('gives each entry of an object or a list a line of its own instead of a spread of several', () =>
    assert.deepEqual(find(code, /^\s*\.\.\.[{[].*[}\]],$/), []))

  test('makes no page, command or endpoint that no other file lists', () => {
    const made = /^export const (\w+) = define(?:Page|Command|Endpoint)\(/gm
    const lost = [...sources].flatMap(([path, text]) => {
      const users = [...sources].filter(([other]) => imports.get(other)?.includes(path))
      const isUsed = (name = '') =>
        users.some(([, other]) => new RegExp(`\\b${name}\\b`).test(other))
      return [...text.matchAll(made)].flatMap(([, name]) =>
        isUsed(name) ? [] : `${path}: ${name}`,
      )
    })
    assert.deepEqual(lost, [])
  })

  test('declares no class but for errors, and for a state that it keeps in private fields', () => {
    const open = /^\s*(export\s+)?(abstract\s+)?class\s+\w+\s*([<{](?!\n\s+(readonly )?#))/m
    const declaring = [...sources].filter(([, text]) => open.test(text)).map(([path]) => path)
    assert.deepEqual(declaring, [])
  })
})

/** The files of src by what each imports, types included. */
const imports = new Map(
  [...sources].map(([path, text]) => [
    path,
    [...text.matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/g)].map(([, to = '']) =>
      join(dirname(path), to),
    ),
  ]),
)

/** The members of the first circle, in order; none if there is no circle. */
function circleIn(graph: Map<string, Iterable<string>>): string[] {
  const done = new Set<string>()
  function search(node: string, path: string[]): string[] {
    if (path.includes(node)) return path.slice(path.indexOf(node))
    if (done.has(node)) return []
    for (const next of graph.get(node) ?? []) {
      const circle = search(next, [...path, node])
      if (circle.length > 0) return circle
    }
    done.add(node)
    return []
  }
  for (const node of graph.keys()) {
    const circle = search(node, [])
    if (circle.length > 0) return circle
  }
  return []
}

// Biome's rule leaves out imports of types, and knows no folders.
describe('The imports of src', () => {
  // A file that stands beside others or beside folders, such as src/pay/context.ts, counts as one.
  test('make no circle of files, and none of folders of any depth', () => {
    const parts = new Map<string, Set<string>>()
    for (const [path, targets] of imports)
      for (const target of targets) {
        const [from = '', to = ''] = whereTheyPart(path, target)
        parts.set(from, (parts.get(from) ?? new Set()).add(to))
      }
    assert.ok(parts.size > 100)
    assert.deepEqual(circleIn(parts), [])
  })
})

/** The two files or folders of one folder in which these two files are. */
function whereTheyPart(...paths: [string, string]): string[] {
  const [one = [], other = []] = paths.map(path => path.split('/'))
  const depth = one.findIndex((part, i) => part !== other[i]) + 1
  return [one, other].map(path => path.slice(0, depth).join('/'))
}

// Biome does not look for words in comments, and reads no Markdown.
describe('The repository', () => {
  test('has no notes about unfinished work', () => {
    assert.deepEqual(find(new Map([...code, ...documents]), /\b(TODO|FIXME|XXX|HACK)\b/), [])
  })

  test('mentions no path of the machine on which it was written and no file that is not in it', () => {
    const local = /(^|[\s'"`(=])\/(work|home|Users|root)\/|\b(CONTRACT|DESIGN|SPEC|STYLE)\.md/
    assert.deepEqual(find(new Map([...code, ...documents]), local), [])
  })
})

/** A tool that runs here may leave files of its own, which must not be committed with a change. */
const ROOT_ENTRIES = words(`
  .ci .containerignore .dockerignore .github .gitignore CHANGELOG.md CONTRIBUTING.md Containerfile LICENSE README.md
  SECURITY.md bench bin biome.json docs examples package-lock.json package.json redocly.yaml scripts src test tsconfig.json`)

const noClone = !existsSync(join(ROOT, '.git')) && 'an archive, not a clone'

test('The tree has these files and folders at its root, and no other is committed', {
  skip: noClone,
}, () => {
  const args = ['-c', 'safe.directory=*', 'ls-files'] // the clone may belong to another user
  const files = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  const entries = new Set(files.map(path => path.split('/')[0]))
  assert.deepEqual([...entries].sort(), ROOT_ENTRIES)
})

describe('A test', () => {
  test('draws its random choices from the seed of the run, with fast-check of test/support/properties.ts', () => {
    const drawn = /Math\.random|randomInt|from 'fast-check'/
    assert.deepEqual(find(tests, drawn, ['test/long/run.ts', 'test/support/properties.ts']), [])
  })

  // noSkippedTests sees test.skip, but not test.todo, the options of node:test or the test's context.
  test('is not skipped or marked as todo', () => {
    const skipped =
      /^(?!import ).*(\b(test|it|describe|suite)\.todo\b|\{\s*(skip|only|todo)\b|\bt\.(skip|todo)\()/
    assert.deepEqual(find(tests, skipped), [])
  })

  // Biome does not know how the runner finds its files.
  test('is in a file that the runner finds', () => {
    const others = [...tests].filter(([path]) => !path.endsWith('.test.ts'))
    const lost = others
      .filter(([, text]) => /^\s*(test|describe)\(/m.test(text))
      .map(([path]) => path)
    const unused = lost.filter(path => !/^test\/(support|faults|long|browser)\//.test(path))
    assert.deepEqual(unused, [])
  })
})
