import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { signature } from '../../src/pay/webhooks/webhook.ts'
import { checkAccountsOf } from '../support/checked-accounts.ts'
import { freePort } from '../support/ports.ts'
import { startService } from '../support/service.ts'

/** Each language is optional on the machines that run these tests; the workflow of this repository has all of them. */
const languages = [
  {
    command: 'python3',
    asks: '--version',
    run: [],
    runTest: ['-m', 'unittest'],
    test: 'test_payments.py',
    receiver: 'receiver.py',
  },
  {
    command: 'ruby',
    asks: '--version',
    run: [],
    test: 'payments_test.rb',
    receiver: 'receiver.rb',
  },
  {
    command: 'java',
    asks: '--version',
    run: [],
    test: 'PaymentsTest.java',
    receiver: 'Receiver.java',
  },
  {
    command: 'php',
    asks: '--version',
    run: [],
    test: 'payments_test.php',
    receiver: 'receiver.php',
  },
  {
    command: 'go',
    asks: 'version',
    run: ['run'],
    runTest: ['test'],
    test: 'payments_test.go',
    receiver: 'receiver.go',
  },
  {
    command: 'dotnet',
    asks: '--version',
    run: ['run'],
    test: 'PaymentsTest.cs',
    receiver: 'Receiver.cs',
  },
]

const example = (path: string): string =>
  fileURLToPath(new URL(`../../examples/${path}`, import.meta.url))

/** Where the language is not installed, the test says so instead of running. */
function isInstalled(
  t: TestContext,
  { command, asks }: { command: string; asks: string },
): boolean {
  if (spawnSync(command, [asks]).status === 0) return true
  t.diagnostic(`left out: ${command} is not installed`)
  return false
}

const KEY = 'webhook_test_prhkrb89l43v8bk43schrlpkdj'
const BODY = JSON.stringify({ event_type: 'card_payment_captured', resource_id: 'é £ 💷' })

describe('Examples in other languages', { concurrency: true }, () => {
  let service: Awaited<ReturnType<typeof startService>>
  before(async () => {
    service = await startService('sqlite', {
      env: { FARTHING_CONTROL: 'true', FARTHING_CALLBACK_HOSTS: '127.0.0.1' },
    })
  })
  after(() => service.stop())

  for (const language of languages) {
    const { command, run, runTest = run, test: file, receiver } = language

    test(`examples/testing/${file} pays, receives, refunds, expires and meets two faults, and would work in production`, async t => {
      if (!isInstalled(t, language)) return
      const { key } = await service.newAccount()
      const accounts = await checkAccountsOf(service.baseUrl)
      t.after(() => accounts.close())
      await promisify(execFile)(command, [...runTest, file], {
        cwd: example('testing'),
        env: { ...process.env, FARTHING_URL: accounts.url, FARTHING_API_KEY: key },
      })
      assert.ok(accounts.ended > 0)
      assert.deepEqual(accounts.broken, [])
    })

    test(`examples/receivers/${receiver} accepts only messages that are signed with the key`, async t => {
      if (!isInstalled(t, language)) return
      const port = String(await freePort())
      const args =
        command === 'php'
          ? ['-S', `127.0.0.1:${port}`, example(`receivers/${receiver}`)]
          : [...run, example(`receivers/${receiver}`), port]
      const child = spawn(command, args, {
        env: { ...process.env, SIGNING_KEY: KEY },
        stdio: 'ignore',
        detached: true, // `go run` and `dotnet run` start another process
      })
      t.after(() => process.kill(-(child.pid ?? 0), 'SIGKILL'))
      const right = signature(BODY, KEY)
      const send = (paySignature: string | undefined) =>
        fetch(`http://127.0.0.1:${port}/`, {
          method: 'POST',
          headers: paySignature === undefined ? {} : { 'Pay-Signature': paySignature },
          body: BODY,
        })
      let first = await send(right).catch(() => undefined)
      for (; !first && child.exitCode === null; await pause(50))
        first = await send(right).catch(() => undefined)
      assert.equal(first?.status, 200)
      assert.equal((await send(`${right.slice(1)}0`)).status, 401)
      assert.equal((await send(right.slice(1))).status, 401)
      assert.equal((await send(undefined)).status, 401)
    })
  }
})
