import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { CONCERNS, changedFiles, testsConcerning } from './support/concerning.ts'
import { tempFolder } from './support/folders.ts'
import { INTERVALS, withIntervals } from './support/timers.ts'

const FILE = 'test/domain/money.test.ts'

/** What `npm test -- ARGUMENTS` prints. */
function npmTest(...args: string[]): string {
  const { NODE_TEST_CONTEXT: _, FARTHING_TEST_TIMES: __, ...env } = process.env
  return execFileSync(process.execPath, ['test/run.ts', ...args], { env, encoding: 'utf8' })
}

test('npm test has every interval that FARTHING_TEST_TIMERS multiplies', () => {
  for (const path of Object.keys(INTERVALS)) {
    const source = readFileSync(join('src', path), 'utf8')
    assert.notEqual(withIntervals(path, source, 10), source)
  }
})

test('npm test with a file runs that file, and with --times says what it took', () => {
  const one = npmTest(FILE)
  assert.match(one, /tests 1\n/)
  assert.doesNotMatch(one, /CPU/)
  const timed = npmTest('--times', FILE)
  assert.match(timed, /\n +CPU s +wall s +tests +file\n/)
  assert.match(timed, /\n +\d+\.\d +\d+\.\d +1 {2}test\/domain\/money\.test\.ts\n/)
  assert.match(timed, /\nAll: \d+ s of processor time, .+ in \d+ s\n$/)
})

test('npm test with --changed runs what concerns the files that differ from main, committed or not', () => {
  const clone = tempFolder()
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      cwd: clone,
      stdio: 'ignore',
    })
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(clone, path)), { recursive: true })
    writeFileSync(join(clone, path), text)
  }
  git('init', '--initial-branch=main')
  for (const path of ['src/core/money.ts', 'src/core/ids.ts', 'README.md']) write(path, '')
  git('add', '.')
  git('commit', '--message=First')
  assert.deepEqual(changedFiles(clone), [])
  git('switch', '--create=branch')
  write('src/core/ids.ts', '// changed')
  git('commit', '--all', '--message=Second')
  write('README.md', 'changed')
  write('src/pay/refunds/new.ts', '')
  const changed = ['README.md', 'src/core/ids.ts', 'src/pay/refunds/new.ts']
  assert.deepEqual(changedFiles(clone), changed)
  const tests = testsConcerning(changed)
  for (const concerning of ['documents', 'domain/ids', 'contract/refunds/create'])
    assert.ok(tests.includes(`test/${concerning}.test.ts`), concerning)
  assert.ok(!tests.some(file => file.startsWith('test/contract/payments/')))
})

test('a changed test concerns itself, and what tests share concerns those that import it, if they are few', () => {
  assert.deepEqual(testsConcerning([FILE]), [FILE])
  assert.deepEqual(testsConcerning(['test/support/concerning.ts']), ['test/run.test.ts'])
  assert.deepEqual(testsConcerning(['test/support/service.ts']), [], 'that takes minutes')
})

test('every file of src has tests that concern it, and each row of the table is for some file', () => {
  const used = new Set<string>()
  for (const path of globSync('src/**/*.{ts,css,js,sql}')) {
    const row = CONCERNS.find(([start]) => path.startsWith(start))
    assert.ok(row?.[0].startsWith('src/'), path)
    used.add(row?.[0] ?? '')
  }
  for (const [start, tests] of CONCERNS) {
    assert.ok(globSync(tests).length > 0, tests)
    assert.ok(!start.startsWith('src/') || used.has(start), start)
  }
})
