import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { CONCERNS, changedFiles, testsConcerning } from './support/concerning.ts'
import { tempFolder } from './support/folders.ts'
import { createHangs } from './support/hangs.ts'
import { fieldsOf } from './support/process-tree.ts'
import { INTERVALS, withIntervals } from './support/timers.ts'

const FILE = 'test/domain/money.test.ts'

function npmTest(args: string[], more: Record<string, string> = {}): string {
  const { NODE_TEST_CONTEXT: _, FARTHING_TEST_TIMES: __, ...others } = process.env
  const env = { ...others, ...more }
  return execFileSync(process.execPath, ['test/run.ts', ...args], { env, encoding: 'utf8' })
}

/** A process that has ended, and waits for its parent to notice, does not run. */
const isRunning = (pid: number): boolean => !['', 'Z'].includes(fieldsOf(pid)[0] ?? '')

describe('npm test', () => {
  test('has every interval that FARTHING_TEST_TIMERS multiplies', () => {
    for (const path of Object.keys(INTERVALS)) {
      const source = readFileSync(join('src', path), 'utf8')
      assert.notEqual(withIntervals(path, source, 10), source)
    }
  })

  test('with a file runs that file, and with --times says what it took', () => {
    const one = npmTest([FILE])
    assert.match(one, /tests 1\n/)
    assert.doesNotMatch(one, /CPU/)
    const timed = npmTest(['--times', FILE])
    assert.match(timed, /\n +CPU s +wall s +tests +file\n/)
    assert.match(timed, /\n +\d+\.\d +\d+\.\d +1 {2}test\/domain\/money\.test\.ts\n/)
    assert.match(timed, /\nAll: \d+ s of processor time, .+ in \d+ s\n$/)
  })

  test('gives tests nothing of what a shell, a terminal or a hook of git says to other programs', () => {
    const file = join(tempFolder(), 'names.test.ts')
    const body = `console.log('has', Object.keys(process.env).join())`
    writeFileSync(file, `import { test } from 'node:test'; test('names', () => ${body})`)
    const foreign = { FORCE_COLOR: '1', GIT_DIR: '/', LOG_LEVEL: 'silent', FARTHING_API_KEY: 'a' }
    const [, names = ''] = /has (\S+)/.exec(npmTest([file], foreign)) ?? []
    assert.ok(names.includes('PATH'))
    for (const name of Object.keys(foreign)) assert.ok(!names.split(',').includes(name), name)
  })

  test('ends a process that a test keeps running, and says what keeps it', () => {
    const file = join(tempFolder(), 'kept.test.mjs')
    const left = join(import.meta.dirname, 'support/left-over.ts')
    writeFileSync(
      file,
      `import { createServer } from 'node:net'
       import { test } from 'node:test'
       import { endWhatIsKept } from '${left}'
       endWhatIsKept(100)
       test('leaves a server', () => void createServer().listen(0, '127.0.0.1'))`,
    )
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const options = { env, encoding: 'utf8' } as const
    const { status, stdout } = spawnSync(process.execPath, ['--test', file], options)
    assert.equal(status, 1)
    assert.match(stdout, /All tests have ended, but not the process\. It is kept by: .*TCPServer/)
  })

  test('ends tests that wait for a minute, with what they started, and names the test; those that work go on', async t => {
    const folder = tempFolder()
    const progress = join(import.meta.dirname, 'support/progress.ts')
    const start = async (name: string, body: string) => {
      const code = `import '${progress}'; import { spawn } from 'node:child_process'; import { test } from 'node:test'; test('${name}', ${body})`
      const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
        env: { ...process.env, FARTHING_TEST_PROGRESS: folder },
      })
      t.after(() => child.kill('SIGKILL'))
      let text = ''
      while (!/^\d+\n/m.test(text)) text += await once(child.stdout.setEncoding('utf8'), 'data')
      return { child, pid: Number(/^\d+$/m.exec(text)?.[0]) }
    }
    const waits = await start(
      'It waits',
      `() => new Promise(() => console.log(spawn('sleep', ['600']).pid))`,
    )
    const works = await start(
      'It works',
      `() => { for (let ms = 500; ; ms += 500) { while (process.cpuUsage().user < 1_000 * ms); console.log(1) } }`,
    )
    // On a busy machine each wake-up of an idle process waits for a processor too: a stopped one has none.
    for (const pid of [waits.child.pid ?? 0, waits.pid]) process.kill(pid, 'SIGSTOP')
    const endHanging = createHangs(folder, { longestWait: 2_000 })
    assert.deepEqual(endHanging(), [])
    let ended: string[] = []
    for (let looks = 0; ended.length === 0 && looks < 60; looks++) {
      await once(works.child.stdout, 'data')
      ended = endHanging()
    }
    const [hanging = '', ...others] = ended
    assert.deepEqual(others, [])
    assert.match(hanging, /^Tests hang at the test "It waits" of /)
    await once(waits.child, 'exit')
    while (isRunning(waits.pid)) await setImmediate()
    assert.ok(isRunning(works.child.pid ?? 0))
  })

  test('with --changed runs what concerns the files that differ from main, committed or not', () => {
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
})
