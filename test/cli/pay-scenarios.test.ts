import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { trigger } from '../../src/cli/trigger.ts'
import { eventTypesOf } from '../../src/pay/webhooks/webhook.ts'
import { type Body, createClient } from '../support/client.ts'
import { runHere } from '../support/command.ts'
import { ask, made } from '../support/control.ts'
import { activeAgreement } from '../support/new-payment.ts'
import { startService } from '../support/service.ts'

const FARTHING_API_KEY = 'key-of-the-command-line'

type Env = Record<string, string>

async function serve(t: TestContext, control: boolean, env: Env = {}) {
  const service = await startService('sqlite', { control, env: { FARTHING_API_KEY, ...env } })
  t.after(() => service.stop())
  const behaviour = env.FARTHING_BEHAVIOUR ? 'govuk-pay' : 'specification'
  const api = createClient([service.baseUrl], FARTHING_API_KEY, behaviour)
  const own = { FARTHING_URL: service.baseUrl, FARTHING_API_KEY, DATABASE_URL: 'sqlite::memory:' }
  const run = (line: string) => runHere({ args: line.split(' '), env: own })
  return { service, api, run }
}

const GOVUK_PAY = { FARTHING_BEHAVIOUR: 'govuk-pay' }

test('farthing pay makes what no user can do, with control: a charge that stays started, or that fails', async t => {
  const [off, on] = [await serve(t, false, GOVUK_PAY), await serve(t, true, GOVUK_PAY)]
  const agreement = `--agreement ${await activeAgreement(on.api)}`
  const refused = await off.run(`pay error ${agreement}`)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /The control API is off: FARTHING_CONTROL=true/)
  const state = async (line: string) => {
    const { code, stdout } = await on.run(`pay ${line} --json`)
    assert.equal(code, 0, line)
    return JSON.parse(stdout).payment.state
  }
  assert.equal((await state(`${agreement} --hold`)).status, 'started')
  for (const how of [agreement, '--moto']) assert.equal((await state(`error ${how}`)).code, 'P0050')
  const { code, can_retry } = await state(`declined ${agreement} --cannot-retry`)
  assert.deepEqual([code, can_retry], ['P0010', false])
})

test('under govuk-pay farthing pay waits for a charge, and for the capture that a refund needs, and farthing trigger refuses what is never sent', async t => {
  const { service, api, run } = await serve(t, false, GOVUK_PAY)
  for (const [line, says] of [
    ['pay --refund 500', / › success › refunded £5\.00 /],
    [`pay --agreement ${await activeAgreement(api)}`, / › success /],
  ] as const) {
    const trying = run(line)
    const ended = trying.then(() => true)
    while (!(await Promise.race([ended, setTimeout(100, false)]))) service.clock.advance(1_000)
    const { code, stdout, stderr } = await trying
    assert.equal(code, 0, stderr)
    assert.match(stdout, says)
  }
  const sent = new Set<string>(eventTypesOf['govuk-pay'])
  const never = (trigger.argument?.values ?? []).filter(type => !sent.has(type))
  assert.ok(never.includes('card_payment_cancelled'))
  for (const type of never) {
    const refused = await run(`trigger ${type}`)
    assert.equal(refused.code, 2, type)
    assert.match(refused.stderr, new RegExp(`the behaviour govuk-pay sends no ${type}`))
  }
})

test('farthing pay and farthing doctor say the behaviour of the account, and without /control nothing', async t => {
  const webhook = {
    FARTHING_WEBHOOK_URL: 'http://localhost:1/',
    FARTHING_SIGNING_KEY: 'a-signing-key-123',
  }
  const as = await serve(t, false, { ...GOVUK_PAY, ...webhook })
  const none = await serve(t, false, { FARTHING_CONSOLE: 'false' })
  const printed = async ({ run }: typeof as, line: string) => (await run(line)).stdout
  assert.match(await printed(as, 'pay --moto'), /^ {2}behaviour govuk-pay$/m)
  assert.equal(JSON.parse(await printed(as, 'pay --moto --json')).behaviour, 'govuk-pay')
  const doctor = await printed(as, 'doctor')
  assert.match(doctor, /^ok +behaviour +The behaviour of the account is govuk-pay\.$/m)
  assert.match(doctor, /^warn +webhooks .*FARTHING_CONTROL=true switches it on\.$/m)
  // The message is sent to the webhook of the settings.
  assert.match(await printed(as, 'pay'), /^ {2}\w{26} {3}card_payment_succeeded/m)
  assert.doesNotMatch(await printed(none, 'pay --moto'), /behaviour/)
  assert.equal(JSON.parse(await printed(none, 'pay --moto --json')).behaviour, null)
  assert.doesNotMatch(await printed(none, 'doctor'), /behaviour/)
})

test('The commands find the webhooks of an account of the behaviour govuk-pay, and do not wait for its captures', async t => {
  const own = { ...GOVUK_PAY, FARTHING_CALLBACK_HOSTS: 'localhost' }
  const { service, api, run } = await serve(t, true, own)
  await made(ask(service, api, 'webhooks', { callback_url: 'https://localhost:1/' }))
  const doctor = await run('doctor')
  assert.match(doctor.stdout, /^warn +webhooks +localhost:1.*ECONNREFUSED/m, doctor.stderr)
  const refunded = await run('trigger card_payment_refunded')
  assert.match(refunded.stdout, /success › refunded £14.50/, refunded.stderr)
  const [, shown = ''] = /^ {2}(.*card_payment_succeeded)/m.exec(refunded.stdout) ?? []
  assert.match(shown, /^localhost:1/)
  const captured = await run('trigger card_payment_captured --json')
  assert.ok(JSON.parse(captured.stdout).payment.settlement_summary.captured_date)
})

test('No plan acts on farthing doctor, and none on what farthing pay looks at, nor do they use one up', async t => {
  const { service, api, run } = await serve(t, true)
  const looks = ['searchPayments', 'readPayment', 'listPaymentEvents', 'listWebhooks']
  for (const on of ['createPayment', 'openPaymentPage', ...looks])
    await made(ask(service, api, 'plans', { on, answer: { status: 503 }, times: 'always' }))
  await made(ask(service, api, 'plans', { scenario: 'error' }))
  const { code, stdout } = await run('doctor')
  assert.equal(code, 0, stdout)
  await Promise.all(service.apps.map(({ recorder }) => recorder?.flush()))
  const sent = (await made(ask(service, api, 'requests'))).results
  assert.ok(sent.length > 0 && sent.every((each: Body) => each.from_farthing), 'it marks each')
  const seen = async () => {
    const { results } = await made(ask(service, api, 'plans'))
    return results.map((plan: { seen: number }) => plan.seen)
  }
  assert.deepEqual(await seen(), [0, 0, 0, 0, 0, 0, 0])
  const refused = await run('pay')
  assert.match(refused.stderr, /POST \/v1\/payments was refused with 503/)
  assert.deepEqual(await seen(), [1, 0, 0, 0, 0, 0, 0])
  const { results } = await made(ask(service, api, 'plans'))
  for (const { plan_id } of [results[0], results.at(-1)])
    await ask(service, api, `plans/${plan_id}`, undefined, 'DELETE')
  const paid = await run('pay --json --moto')
  assert.equal(paid.code, 0, paid.stderr)
  assert.deepEqual(await seen(), [0, 0, 0, 0, 0])
  assert.equal((await api.get('/v1/payments')).status, 503)
})
