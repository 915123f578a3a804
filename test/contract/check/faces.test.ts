import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { CheckFailed } from '../../../src/testing/library.ts'
import { ruleIds } from '../../../src/tools/explain/check/report.ts'
import { runHere } from '../../support/command.ts'
import { tempFolder } from '../../support/folders.ts'
import { runProcess } from '../../support/process.ts'
import { startService } from '../../support/service.ts'
import { connected, KEY } from '../../testing/connected.ts'

const web = { reference: 'R', description: 'D', return_url: 'https://shop.example.org/back' }

describe('The check in the command line and the library', () => {
  const farthing = connected()
  const envOf = (key: string) => ({ FARTHING_URL: farthing().url, FARTHING_API_KEY: key })
  const command = (line: string, key: string, ...more: string[]) =>
    runHere({ args: [...line.split(' ').filter(Boolean), ...more], env: envOf(key) })
  const run = (line: string, key: string, ...more: string[]) =>
    command(`check ${line}`, key, ...more)

  test('farthing check reports broken rules with their evidence, and its exit code is that of the worst level', async () => {
    const account = await farthing().account()
    const { body: payment } = await account.send('POST', '/v1/payments', { ...web, amount: 0 })
    assert.ok(payment.payment_id)
    await account.send('POST', '/control/nothing') // is not recorded
    for (const [line, code] of [
      ['', 0],
      ['--fail-on warn', 3],
      ['--fail-on note', 3],
      ['--fail-on warn --ignore P1 --ignore R3', 0],
      ['--since 10m --fail-on warn', 3],
      ['--fail-on pass', 2],
      ['--ignore P99', 2],
      ['--since yesterday', 2],
      [`--probe ${'0'.repeat(26)}`, 1],
      ['--url http://127.0.0.1:1', 4],
    ] as const) {
      const { code: found, stdout, stderr } = await run(line, account.key)
      assert.equal(found, code, `${line}: ${stdout}${stderr}`)
    }
    const { stdout } = await run('', account.key)
    assert.match(stdout, /^1 requests and deliveries since 2026-/)
    assert.match(stdout, /\nP1 warn {2}Amount 0 \(once\)\n/)
    assert.match(stdout, /\/console\/requests\/[0-9a-v]{26}\n/)
    assert.match(stdout, /\n0 fail, 1 warn, 0 note\./)
  })

  test('--junit writes a test case for each rule, as a failure, as passed, or as skipped where nothing was seen', async () => {
    const account = await farthing().account()
    await account.send('POST', '/v1/payments', { ...web, amount: 0 })
    const file = join(tempFolder(), 'check.xml')
    const { code, stdout } = await run('--json --fail-on warn --junit', account.key, file)
    const { findings } = JSON.parse(stdout)
    const xml = readFileSync(file, 'utf8')
    const count = (pattern: RegExp) => xml.match(pattern)?.length ?? 0
    assert.equal(code, 3)
    assert.equal(count(/<testcase /g), ruleIds.length)
    assert.equal(count(/<failure type="warn"/g), 1)
    const unseen = findings.filter(({ level }: { level: string }) => level === 'not seen')
    assert.equal(count(/<skipped /g), unseen.length)
    // The advice about P5 names the characters, which must be escaped here.
    const texts = xml.replaceAll(/<\/?[a-z?][^<>]*>/g, '')
    assert.doesNotMatch(texts, /[<>]|&(?!(?:amp|lt|gt|quot|#39);)/)
    // A warning below --fail-on is no failure: its test case has the sentence and the evidence.
    assert.equal((await run('--junit', account.key, file)).code, 0)
    assert.match(
      readFileSync(file, 'utf8'),
      /name="P1 Amount 0" time="0">\n<system-out>By its source GOV\.UK Pay: It is .*\n.*\nSource: .*\nwarn, seen once\n[0-9a-v]{26}<\/system-out>/,
    )
  })

  test('farthing check ends with 1 if no rule was evaluated, and skips each test case', async () => {
    const account = await farthing().account()
    const file = join(tempFolder(), 'check.xml')
    const empty = await run('--junit', account.key, file)
    const xml = readFileSync(file, 'utf8')
    assert.equal(empty.code, 1)
    assert.match(empty.stdout, /^Nothing was recorded, so nothing was checked/)
    assert.match(empty.stderr, /Nothing was judged, so nothing has passed/)
    assert.equal(xml.match(/<skipped /g)?.length, xml.match(/<testcase /g)?.length)

    await account.send('POST', '/v1/payments', web)
    const { body: webhook } = await account.send('POST', '/v1/webhooks', {
      callback_url: 'https://shop.example.org/hook',
    })
    assert.equal((await run('', account.key)).code, 0)
    const probed = await run(`--probe ${webhook.external_id}`, account.key)
    assert.equal(probed.code, 1, probed.stdout)
    assert.match(probed.stdout, /Not judged: R1, R2, .* R11\n {2}No payment of the account is paid/)
    assert.match(probed.stderr, /The probe judged nothing/)
    assert.equal((await account.check()).kept > 0, true)
  })

  test('a receiver of the library proves nothing, because it answers what the test says', async () => {
    const account = await farthing().account()
    await using receiver = await account.receive({ events: ['card_payment_captured'] })
    for (const status of [503, 302, 200]) {
      receiver.answer(status)
      for (let i = 0; i < 3; i++) await account.payment({ scenario: 'success' })
      await account.settled({ timeout: '30s' }).catch(() => {}) // it rejects where the receiver refused
      const { findings } = await account.check({ failOn: 'warn' })
      for (const id of ['W1', 'W2', 'W3'])
        assert.equal(findings.find(({ rule }) => rule === id)?.level, 'not seen', `${status} ${id}`)
    }
  })

  test('the check leaves out payments that Farthing’s own commands create, whoever pays them', async () => {
    const account = await farthing().account()
    assert.equal((await command('pay declined', account.key)).code, 0)
    const made = await account.send('GET', '/v1/payments?display_size=1')
    await account.send('GET', `/v1/payments/${made.body.results[0].payment_id}`)
    assert.equal((await command('trigger card_payment_cancelled', account.key)).code, 0)
    const { kept, findings } = await account.check({ asOf: '1d' })
    assert.equal(kept, 1, 'the search of the client')
    const judged = findings.filter(({ level }) => level !== 'not seen').map(({ rule }) => rule)
    assert.deepEqual(judged, ['P5', 'P6'])
  })

  test('each situation says whether it was met, with its evidence, or has the line that causes it', async () => {
    const account = await farthing().account()
    const { payment_id } = await account.payment({ scenario: 'declined' })
    await account.send('GET', `/v1/payments/${payment_id}`)
    const { situations } = await account.check()
    const met = situations.filter(each => each.met).map(({ situation }) => situation)
    assert.deepEqual(met, ['A card is declined'])
    for (const { met, evidence, line, library } of situations) {
      assert.equal(evidence !== null, met)
      assert.ok(line && library)
    }
    const { body: webhook } = await account.send('POST', '/control/webhooks', {
      callback_url: 'https://shop.example.org/hook',
    })
    const { code, stdout } = await run('--situations', account.key)
    assert.equal(code, 0)
    assert.match(
      stdout,
      /^met {13}A card is declined\n {16}http\S+\/console\/requests\/[0-9a-v]{26}\nnot met {9}The user cancels\n {16}curl .* http:\/\/127\S+\/control\/plans # then /,
    )
    const file = join(tempFolder(), 'check.xml')
    await run('--junit', account.key, file)
    assert.match(readFileSync(file, 'utf8'), /<system-out>met: A card is declined \(/)
    assert.ok(stdout.includes(`--probe ${webhook.external_id}`))
  })

  test('farthing check names the webhook of a listener, and commands as they are typed here', async () => {
    const account = await farthing().account()
    assert.equal((await command('doctor --json', account.key)).stderr, '')
    const { body: listener } = await account.send('POST', '/control/listeners', { name: 'l' })
    const probe = `check --probe ${listener.webhook_id}`
    const { stdout } = await run('', account.key)
    assert.ok(stdout.includes(`\nReceivers: not probed in this run: farthing ${probe}\n`), stdout)
    const byNpm = { npm_lifecycle_event: 'start', npm_package_name: 'farthing' }
    const env = { ...envOf(account.key), ...byNpm }
    const printed = await runProcess({ args: ['check', '--situations'], env })
    assert.ok(printed.stdout.includes(`\n                npm start -- ${probe}\n`), printed.stdout)
    assert.doesNotMatch(printed.stdout, /FARTHING_CONTROL/)
  })

  test('farthing check --situations says once that its lines need the control API, where that is off', async t => {
    const plain = await startService('sqlite', { env: { FARTHING_API_KEY: KEY } })
    t.after(() => plain.stop())
    const env = { FARTHING_URL: plain.baseUrl, FARTHING_API_KEY: KEY }
    const { stdout } = await runHere({ args: ['check', '--situations'], env })
    assert.equal(stdout.match(/FARTHING_CONTROL=true/g)?.length, 1)
  })

  test('account.check() answers the report, or rejects with the findings as text', async () => {
    const account = await farthing().account()
    await account.send('POST', '/v1/payments', { ...web, amount: 0 })
    assert.equal((await account.check()).findings[0]?.rule, 'P1')
    assert.equal((await account.check({ asOf: '365d' })).kept, 1)
    await account.check({ failOn: 'warn', ignore: ['P1'] })
    const since = await account.clock.advance('1s')
    await account.check({ failOn: 'warn', since })
    const failed = await account.check({ failOn: 'warn' }).catch((error: unknown) => error)
    assert.ok(failed instanceof CheckFailed)
    assert.match(failed.message, /^this would not work in production:\n {2}P1 warn, seen once: /)
    assert.deepEqual([failed.findings[0]?.rule, failed.findings.length], ['P1', 1])
    for (const [options, message] of [
      [{ ignore: ['P99'] }, /no rule P99/],
      [{ ignore: ['R12'] }, /no rule R12/],
      [{ ignore: 'P1' }, /ignore: 'P1' is not a list/],
      [{ failOn: 'pass' }, /failOn: 'pass' is not one of/],
    ] as [object, RegExp][])
      await assert.rejects(account.check(options), message)
  })
})
