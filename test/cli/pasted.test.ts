/** The shell blocks of the documents, each pasted as a reader would, from top to bottom. */
import assert from 'node:assert/strict'
import { globSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Body } from '../support/client.ts'
import { createClient } from '../support/client.ts'
import { runHere } from '../support/command.ts'
import { tempFolder } from '../support/folders.ts'
import { freePort, isListening } from '../support/ports.ts'
import { COMMAND, programOf } from '../support/process.ts'
import { runLines, shellBlocks, startLines } from '../support/recipe.ts'

const ROOT = join(import.meta.dirname, '../..')
const UNKNOWN_KEY = /API key/
const READY = 'Farthing is listening on http'

/** The test that pastes the blocks of each document. */
const PASTED: Record<string, string> = {
  'README.md': 'test/cli/first-minutes.test.ts',
  'docs/cli.md': 'test/cli/documentation.test.ts',
  'docs/package.md': 'test/package.test.ts',
  'docs/control.md': 'below',
  'docs/laptop.md': 'below',
  'docs/pipeline.md': 'below',
  'docs/shared-environment.md': 'below',
  'docs/testing.md': 'below',
}

/** The beginnings of the blocks that no test pastes, each with the reason. */
const NOT_HERE = {
  'npm ci && npm pack && podman build': 'not every machine has podman',
  'npm ci && npm pack\n': 'it takes a minute; test/package.test.ts installs the packed file',
}

const isHere = (block: string): boolean =>
  !Object.keys(NOT_HERE).some(start => block.startsWith(start))

/** Like a new clone after `npm ci`, but with the bundled command: test/cli/first-minutes.test.ts starts the sources. */
function fillAsClone(folder: string, receiver: string): void {
  const names = readdirSync(ROOT).filter(name => !/^(\.git|bin|data|farthing\.log)$/.test(name))
  for (const name of names.filter(name => name !== 'package.json'))
    symlinkSync(join(ROOT, name), join(folder, name))
  symlinkSync(dirname(COMMAND), join(folder, 'bin'))
  const scripts = readFileSync(join(ROOT, 'package.json'), 'utf8')
  writeFileSync(join(folder, 'package.json'), scripts.replaceAll(/\b4000\b/g, receiver))
}

type Place = { folder?: string; env?: Record<string, string> }

/** Terminals in a clone or in another folder, with free ports in place of 3000 and 4000. */
async function terminals(t: TestContext, { folder, env: more = {} }: Place = {}) {
  const port = await freePort()
  const receiver = String(await freePort())
  const cwd = folder ?? tempFolder()
  if (folder === undefined) fillAsClone(cwd, receiver)
  const env = { FARTHING_URL: `http://127.0.0.1:${port}`, ...more }
  const moved = (lines: string) => lines.replaceAll(/\b4000\b/g, receiver)
  return {
    port,
    /** Runs a command that no document has. */
    async farthing(line: string, key = 'my-first-farthing-key'): Promise<string> {
      const set = { FARTHING_URL: env.FARTHING_URL, FARTHING_API_KEY: key }
      const { code, stdout, stderr } = await runHere({ args: line.split(' '), env: set })
      assert.equal(code, 0, stderr)
      return stdout
    },
    /** Runs lines to their end. No command of a pipe may report an error. */
    async run(lines: string): Promise<string> {
      const { code, stdout, stderr } = await runLines(moved(lines), { cwd, port, env })
      assert.equal(code, 0, `${lines}\n${stdout}${stderr}`)
      assert.doesNotMatch(stderr, /^(bash|curl|farthing|jq|npm)\b.*:/m, lines)
      return stdout
    },
    async runWithWrongKey(lines: string): Promise<string> {
      const other = moved(lines.replaceAll('my-first-farthing-key', 'another-farthing-key'))
      const { stdout, stderr } = await runLines(other, { cwd, port, env })
      return stdout + stderr
    },
    async start(lines: string, text = READY) {
      const started = await startLines(moved(lines), { cwd, port, env }, text)
      t.after(started.stop)
      return started
    },
  }
}

/** Parses JSON texts that were printed one after the other. */
const printed = (output: string) =>
  output
    .trim()
    .split(/(?<=\})\s*(?=\{)/)
    .map(text => JSON.parse(text))

describe('The blocks of the documents work when they are pasted', () => {
  test('A test pastes every block of every document, but for those with a reason', () => {
    const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT })
    const withBlocks = documents.filter(document => shellBlocks(document).length > 0)
    assert.deepEqual(withBlocks.toSorted(), Object.keys(PASTED).toSorted())
    const left = withBlocks.flatMap(shellBlocks).filter(block => !isHere(block))
    assert.equal(left.length, Object.keys(NOT_HERE).length)
  })

  test('docs/laptop.md, each block in a new terminal', async t => {
    const { run, runWithWrongKey, start, farthing } = await terminals(t)
    const [logged = '', http = '', pay = '', fixed = '', exceptions = '', ...others] =
      shellBlocks('docs/laptop.md')
    const [register = '', remove = '', receive = '', history = ''] = others
    const first = await start('npm start | tee farthing.log', '"curl"')
    const command = await run(logged)
    assert.match(await run(command), /"payment_id":"/)
    await first.stop()
    const second = await start(http)
    const [payment, { events }, { results }, refund] = printed(await run(pay))
    assert.equal(payment.state.status, 'success')
    assert.equal(events.length, 4)
    assert.ok(results.some((each: Body) => each.payment_id === payment.payment_id))
    assert.equal(refund.amount, 500)
    await second.stop()
    const receiver = await start(receive, 'http://127.0.0.1:')
    const third = await start(fixed)
    await farthing('pay')
    while (!receiver.output.stdout.includes('card_payment_succeeded')) await setTimeout(20)
    await third.stop()
    await start(exceptions)
    assert.match(await run(register), /"signing_key": "webhook_test_/)
    await farthing('pay')
    const [{ results: messages }] = printed(await run(history))
    assert.equal(messages[0].latest_attempt.status_code, 401, 'it has the key of the other webhook')
    assert.equal(await run(remove), '')
    assert.match(await runWithWrongKey(history), UNKNOWN_KEY)
  })

  test('docs/testing.md and docs/control.md, in two terminals', async t => {
    const { run, runWithWrongKey, start, farthing, port } = await terminals(t)
    const [agreement = '', pay = '', ...rest] = shellBlocks('docs/testing.md').filter(isHere)
    assert.deepEqual(rest, [])
    const [service = '', variables = '', ...examples] = shellBlocks('docs/control.md')
    await start(service)
    assert.equal(JSON.parse(await run(agreement)).acted, 0)
    assert.equal(await run(pay), '')
    const api = createClient([`http://127.0.0.1:${port}`], 'my-first-farthing-key')
    const { body } = await api.get('/v1/payments?reference=R-7')
    assert.equal(body.results[0].state.status, 'success')
    assert.match(await runWithWrongKey(agreement), UNKNOWN_KEY)
    const answers = []
    for (const example of examples) {
      // The example is about the newest webhook, and an earlier example has emptied the account.
      if (example.includes('WEBHOOK_ID')) await farthing('listen --print-signing-key')
      const answer = JSON.parse(await run(variables + example))
      assert.equal(answer.code, undefined, `${example} ${answer.description}`)
      answers.push(answer)
    }
    assert.match(await runWithWrongKey(variables + examples[0]), UNKNOWN_KEY)
    const [account, overview, built, completed, waited, plan, clock] = answers
    assert.match(account.key, /^api_test_/)
    assert.equal(overview.epoch, 1)
    assert.equal(built.refund_summary.amount_submitted, 500)
    assert.equal(completed.state.code, 'P0010')
    assert.equal(waited.results[0].payment_id, built.payment_id)
    assert.equal(plan.acted, 0)
    assert.equal(clock.frozen, false)
  })

  test('docs/pipeline.md, of which the first block ends by itself', async t => {
    const { run, start, port } = await terminals(t)
    const [script = '', fixed = '', ...rest] = shellBlocks('docs/pipeline.md').filter(isHere)
    assert.deepEqual(rest, [])
    await run(script)
    assert.equal(await isListening(port), false)
    await start(fixed)
  })

  test('docs/shared-environment.md, as the user of the test and in a folder of it', async t => {
    const folder = dirname(programOf())
    mkdirSync(join(folder, 'backup'))
    mkdirSync(join(folder, 'var/lib'), { recursive: true })
    const PATH = `${folder}:${process.env.PATH}`
    const { run, start, farthing } = await terminals(t, { folder, env: { PATH } })
    const here = folder.replaceAll(' ', '\\ ') // as shells read it
    const [executable = '', key = '', backup = '', restore = ''] = shellBlocks(
      'docs/shared-environment.md',
    ).map(block =>
      block
        .replaceAll('sudo -u farthing ', '')
        .replaceAll('-o farthing', `-o ${process.getuid?.()}`)
        .replaceAll('/var/lib', `${here}/var/lib`)
        .replaceAll('/backup', `${here}/backup`),
    )
    const first = await start(executable)
    await first.stop()
    const [made = ''] = /api_test_\w+/.exec(await run(key)) ?? []
    const service = `DATABASE_URL=sqlite:${here}/var/lib/farthing/farthing.db farthing`
    const second = await start(service)
    await farthing('pay', made)
    await run(backup)
    await second.stop()
    await run(restore)
    await start(service)
    assert.match(await farthing('pay', made), /created › started › submitted › success/)
  })
})
