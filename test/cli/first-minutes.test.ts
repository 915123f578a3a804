/** The lines that a newcomer pastes into terminals: those of the README, and those that a start prints. */
import assert from 'node:assert/strict'
import { join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { asTypedHere, hint, type Started, shellWord } from '../../src/core/invocation.ts'
import { createClient } from '../support/client.ts'
import { runHere } from '../support/command.ts'
import { tempFolder } from '../support/folders.ts'
import { freePort } from '../support/ports.ts'
import { startCommand } from '../support/process.ts'
import { runLines, shellBlocks, startLines } from '../support/recipe.ts'

const ROOT = join(import.meta.dirname, '../..')
/** npm sets these variables for every command that it starts. */
const BY_NPM = { npm_lifecycle_event: 'start', npm_package_name: 'farthing' }
const AT_TERMINAL = { NODE_OPTIONS: '--import=data:text/javascript,process.stdout.isTTY=true' }

const READY = 'Farthing is listening on http'

const newDatabase = () => ({ DATABASE_URL: `sqlite:${join(tempFolder(), 'farthing.db')}` })

/** Starts the service as `npm start` does at a terminal, and waits for the last line that a start prints. */
async function start(env: Record<string, string>) {
  const started = await startCommand(
    { env: { PORT: '0', ...env, ...AT_TERMINAL, ...BY_NPM } },
    'No money moves here.',
  )
  return { ...started, baseUrl: /http:\S+/.exec(started.output())?.[0] ?? '' }
}

/** Runs the lines as in a new terminal in the clone, without any setting. Farthing is at `port`. */
const inTerminal = (lines: string, port: number) => runLines(lines, { cwd: ROOT, port })

describe('The first minutes', () => {
  const KEY = 'my-first-farthing-key'
  const env = newDatabase()
  /** Other machines reach `shared`, which has no console. */
  let running: Awaited<ReturnType<typeof start>>
  let shared: typeof running
  before(async () => {
    running = await start({ ...env, FARTHING_API_KEY: KEY })
    const own = { HOST: '0.0.0.0', FARTHING_CONSOLE: 'false', FARTHING_API_KEY: KEY }
    shared = await start({ ...newDatabase(), ...own })
  })
  after(() => Promise.all([running.kill(), shared.kill()]))

  test('A terminal gets commands with the key only where no other machine reaches the service', () => {
    assert.ok(running.output().includes(KEY))
    assert.ok(!running.output().includes('$FARTHING_API_KEY'))
    assert.ok(!shared.output().includes(KEY))
    assert.ok(shared.output().includes('$FARTHING_API_KEY'))
  })

  test('A terminal is told in text where payments are kept, and the addresses of the console and the documentation', () => {
    for (const { baseUrl, output } of [running, shared]) {
      const lines = output().split('\n')
      assert.equal(lines[0], `Farthing is listening on ${baseUrl}`)
      assert.match(lines[1] ?? '', /^Payments are kept in .*farthing\.db/)
      const line = `Console:       ${baseUrl}/console`
      assert.equal(lines.includes(line), baseUrl === running.baseUrl, output())
      assert.ok(lines.includes(`Documentation: ${baseUrl}/docs`))
    }
  })

  /** The indented lines of a start are commands. */
  const printed = (output: string) =>
    [...output.matchAll(/^ {2}(\S.*)$/gm)].map(([, command = '']) => command)

  test('The blocks of the README work when each is pasted into a new terminal, from top to bottom', async t => {
    const [first = '', pay = '', create = '', search = '', listen = '', open = '', again = ''] =
      shellBlocks('README.md')
    const port = await freePort()
    const noDesktop = { DISPLAY: '', WAYLAND_DISPLAY: '' }
    const env = { ...newDatabase(), ...noDesktop, FARTHING_URL: `http://127.0.0.1:${port}` }
    const terminal = { cwd: ROOT, port, env }
    const run = (lines: string) => runLines(lines, terminal)
    // `npm ci` was run here before this test.
    const service = await startLines(first.replace(/^npm ci$/m, ''), terminal, READY)
    t.after(service.stop)
    const paid = await run(pay)
    assert.equal(paid.code, 0, paid.stderr)
    assert.match(paid.stdout, /£14\.50 {3}created › started › submitted › success /)
    assert.match(paid.stdout, /£14\.50 {3}created › started › failed P0010 /)
    const page = (await run(create)).stdout.trim()
    assert.match(page, /^http:\/\/127\.0\.0\.1:\d+\/secure\//)
    const browser = createClient([new URL(page).origin], undefined)
    assert.equal((await browser.postForm(page, { scenario: 'success' })).status, 303)
    assert.equal((await browser.postForm(`${page}/confirm`, {})).status, 303)
    assert.deepEqual(JSON.parse((await run(search)).stdout), { status: 'success', finished: true })
    const refused = await run(create.replace('first-farthing', 'other'))
    assert.equal(JSON.parse(refused.stdout).code, 'P0910', 'the error is shown')
    const listening = await startLines(listen, terminal, 'Signing key: webhook_test_')
    await listening.stop()
    assert.match((await run(open)).stdout, /^http:\/\/127\.0\.0\.1:\d+\/console\/enter\S+\n$/m)
    await service.stop()
    const restarted = await startLines(again, terminal, READY)
    await restarted.stop()
  })

  test('What a start prints at a terminal works in another terminal, for a key in the settings and for a new one', async t => {
    const withNewKey = await start({ DATABASE_URL: 'sqlite::memory:' })
    t.after(() => withNewKey.kill())
    const commandsOf = (started: typeof running) =>
      printed(started.output()).filter(line => line.includes(' '))
    const [key = ''] = /api_test_\w+/.exec(withNewKey.output()) ?? []
    const commands = commandsOf(withNewKey)
    const sameOfOther = commands.map(command =>
      command.replace(withNewKey.baseUrl, running.baseUrl).replace(key, KEY),
    )
    assert.deepEqual(commandsOf(running), sameOfOther)
    assert.equal(commands.length, 2, withNewKey.output())
    for (const command of commands) {
      const { code, stdout } = await inTerminal(command, 0)
      assert.equal(code, 0, command)
      assert.match(stdout, /"payment_id":"|created › started › submitted › success/)
    }
  })

  test('A start that does not know a key prints how to make one, which works in another terminal', async t => {
    const used = newDatabase()
    await runHere({ args: ['keys', 'create', '--create'], env: used })
    const started = await start(used)
    t.after(() => started.kill())
    const commands = printed(started.output())
    assert.match(
      commands[0] ?? '',
      /^export FARTHING_API_KEY=\$\(DATABASE_URL=.+ npm -s start -- keys create\)$/,
    )
    const { code, stdout, stderr } = await inTerminal(commands.join('\n'), 0)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /created › started › submitted › success.*"payment_id":"/s)
  })

  test('Hints and examples name the command as it is typed where the process was started', () => {
    const clone: Started = {
      script: join(ROOT, 'bin/farthing.js'),
      folder: ROOT,
      env: {},
      isExecutable: false,
    }
    const project = join(ROOT, '..', 'shop')
    const installed = (path: string): Started => ({ ...clone, folder: project, script: path })
    const executable = { ...installed(join(project, 'farthing')), isExecutable: true }
    for (const [name, started] of Object.entries({
      'npm start --': { ...clone, env: BY_NPM },
      'node bin/farthing.js': clone,
      'npx node bin/farthing.js': { ...clone, env: { npm_command: 'exec' } },
      [`node ${shellWord(relative(project, clone.script))}`]: { ...clone, folder: project },
      'npx farthing': installed(join(project, 'node_modules/.bin/farthing')),
      farthing: installed('/usr/local/bin/farthing'),
      './farthing': executable,
    }))
      assert.equal(asTypedHere('(farthing keys list)', started), `(${name} keys list)`)
    assert.equal(
      asTypedHere('farthing pay', { ...executable, env: { PATH: `/bin:${project}` } }),
      'farthing pay',
    )
    const byNpm = { ...clone, env: BY_NPM }
    assert.equal(asTypedHere('PORT=3001 farthing', byNpm), 'PORT=3001 npm start')
    assert.equal(asTypedHere('farthing logs --json|jq', byNpm), 'npm -s start -- logs --json|jq')
  })

  test('Hints are rewritten, and the names of accounts, databases and hosts are not', async t => {
    t.mock.property(process, 'argv', [process.execPath, join(ROOT, 'bin/farthing.js')])
    const database = join(tempFolder(), 'of farthing')
    const args = ['keys', 'create', '--create', '--account', 'farthing pay']
    const { stderr } = await runHere({ args, env: { DATABASE_URL: `sqlite:${database}` } })
    assert.match(stderr, /The account farthing pay is new\. /)
    assert.ok(stderr.includes(`${database}\n`), stderr)
    const [start, host] = [asTypedHere('farthing'), 'farthing']
    assert.notEqual(start, host)
    assert.equal(
      hint`FARTHING_RETURN_HOSTS=${host} farthing`,
      `FARTHING_RETURN_HOSTS=farthing ${start}`,
    )
    assert.equal(
      hint`farthing listen --name ${shellWord('my farthing')}`,
      `${start} listen --name 'my farthing'`,
    )
  })
})
