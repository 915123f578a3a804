import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type Body, createClient } from '../support/client.ts'
import { runHere } from '../support/command.ts'
import { ask, made } from '../support/control.ts'
import { activeAgreement } from '../support/new-payment.ts'
import { startService } from '../support/service.ts'

const FARTHING_API_KEY = 'key-of-the-command-line'

test('farthing pay makes what no user can do, with control: a charge that stays started, or that fails', async t => {
  const start = async (control: boolean) => {
    const env = { FARTHING_API_KEY, FARTHING_BEHAVIOUR: 'govuk-pay' }
    const service = await startService('sqlite', { env, control })
    t.after(() => service.stop())
    return service.baseUrl
  }
  const [off, on] = await Promise.all([start(false), start(true)])
  const pay = (url: string, line: string) =>
    runHere({ args: ['pay', ...line.split(' ')], env: { FARTHING_URL: url, FARTHING_API_KEY } })
  const agreement = `--agreement ${await activeAgreement(createClient([on], FARTHING_API_KEY, 'govuk-pay'))}`
  const refused = await pay(off, `error ${agreement}`)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /The control API is off: FARTHING_CONTROL=true/)
  const state = async (line: string) => {
    const { code, stdout } = await pay(on, `${line} --json`)
    assert.equal(code, 0, line)
    return JSON.parse(stdout).payment.state
  }
  assert.equal((await state(`${agreement} --hold`)).status, 'started')
  assert.equal((await state(`error ${agreement}`)).code, 'P0050')
  const { code, can_retry } = await state(`declined ${agreement} --cannot-retry`)
  assert.deepEqual([code, can_retry], ['P0010', false])
})

test('under govuk-pay farthing pay waits for a charge, and for the capture that a refund needs, and farthing trigger refuses what is never sent', async t => {
  const env = { FARTHING_API_KEY, FARTHING_BEHAVIOUR: 'govuk-pay' }
  const service = await startService('sqlite', { env })
  t.after(() => service.stop())
  const run = (...args: string[]) =>
    runHere({ args, env: { FARTHING_URL: service.baseUrl, FARTHING_API_KEY } })
  const api = createClient([service.baseUrl], FARTHING_API_KEY, 'govuk-pay')
  for (const [line, says] of [
    ['pay --refund 500', / › success › refunded £5\.00 /],
    [`pay --agreement ${await activeAgreement(api)}`, / › success /],
  ] as const) {
    const trying = run(...line.split(' '))
    const ended = trying.then(() => true)
    while (!(await Promise.race([ended, setTimeout(100, false)]))) service.clock.advance(1_000)
    const { code, stdout, stderr } = await trying
    assert.equal(code, 0, stderr)
    assert.match(stdout, says)
  }
  const refused = await run('trigger', 'card_payment_cancelled')
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /the behaviour govuk-pay sends no card_payment_cancelled/)
})

test('farthing pay and farthing doctor say the behaviour of the account, and without /control nothing', async t => {
  const webhook = {
    FARTHING_WEBHOOK_URL: 'http://localhost:1/',
    FARTHING_SIGNING_KEY: 'a-signing-key-123',
  }
  const own = { FARTHING_API_KEY, FARTHING_BEHAVIOUR: 'govuk-pay', ...webhook }
  const closed = { FARTHING_API_KEY, FARTHING_CONSOLE: 'false' }
  const [as, none] = await Promise.all([
    startService('sqlite', { env: own }),
    startService('sqlite', { env: closed }),
  ])
  t.after(() => Promise.all([as.stop(), none.stop()]))
  const run = async ({ baseUrl }: typeof as, ...args: string[]) => {
    const env = { FARTHING_URL: baseUrl, FARTHING_API_KEY, DATABASE_URL: 'sqlite::memory:' }
    return (await runHere({ args, env })).stdout
  }
  assert.match(await run(as, 'pay', '--moto'), /^ {2}behaviour govuk-pay$/m)
  assert.equal(JSON.parse(await run(as, 'pay', '--moto', '--json')).behaviour, 'govuk-pay')
  const doctor = await run(as, 'doctor')
  assert.match(doctor, /^ok +behaviour +The behaviour of the account is govuk-pay\.$/m)
  assert.match(doctor, /^warn +webhooks .*FARTHING_CONTROL=true switches it on\.$/m)
  // The webhook is that of the settings.
  assert.match(await run(as, 'pay'), /^ {2}\w{26} {3}card_payment_succeeded/m)
  assert.doesNotMatch(await run(none, 'pay', '--moto'), /behaviour/)
  assert.equal(JSON.parse(await run(none, 'pay', '--moto', '--json')).behaviour, null)
  assert.doesNotMatch(await run(none, 'doctor'), /behaviour/)
})

test('The commands find the webhooks of an account of the behaviour govuk-pay, and do not wait for its captures', async t => {
  const hosts = { FARTHING_CALLBACK_HOSTS: 'localhost' }
  const own = { FARTHING_API_KEY, FARTHING_BEHAVIOUR: 'govuk-pay', ...hosts }
  const service = await startService('sqlite', { env: own, control: true })
  t.after(() => service.stop())
  const api = createClient([service.baseUrl], FARTHING_API_KEY, 'govuk-pay')
  await made(ask(service, api, 'webhooks', { callback_url: 'https://localhost:1/' }))
  const env = {
    FARTHING_URL: service.baseUrl,
    FARTHING_API_KEY,
    DATABASE_URL: 'sqlite::memory:',
  }
  const run = (line: string) => runHere({ args: line.split(' '), env })
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
  const service = await startService('sqlite', { env: { FARTHING_API_KEY }, control: true })
  t.after(() => service.stop())
  const api = createClient([service.baseUrl], FARTHING_API_KEY)
  const env = { FARTHING_URL: service.baseUrl, FARTHING_API_KEY, DATABASE_URL: 'sqlite::memory:' }
  const looks = ['searchPayments', 'readPayment', 'listPaymentEvents', 'listWebhooks']
  for (const on of ['createPayment', 'openPaymentPage', ...looks])
    await made(ask(service, api, 'plans', { on, answer: { status: 503 }, times: 'always' }))
  await made(ask(service, api, 'plans', { scenario: 'error' }))
  const { code, stdout } = await runHere({ args: ['doctor'], env })
  assert.equal(code, 0, stdout)
  await Promise.all(service.apps.map(({ recorder }) => recorder?.flush()))
  const sent = (await made(ask(service, api, 'requests'))).results
  assert.ok(sent.length > 0 && sent.every((each: Body) => each.from_farthing), 'it marks each')
  const seen = async () => {
    const { results } = await made(ask(service, api, 'plans'))
    return results.map((plan: { seen: number }) => plan.seen)
  }
  assert.deepEqual(await seen(), [0, 0, 0, 0, 0, 0, 0])
  const refused = await runHere({ args: ['pay'], env })
  assert.match(refused.stderr, /POST \/v1\/payments was refused with 503/)
  assert.deepEqual(await seen(), [1, 0, 0, 0, 0, 0, 0])
  const { results } = await made(ask(service, api, 'plans'))
  for (const { plan_id } of [results[0], results.at(-1)])
    await ask(service, api, `plans/${plan_id}`, undefined, 'DELETE')
  const paid = await runHere({ args: ['pay', '--json', '--moto'], env })
  assert.equal(paid.code, 0, paid.stderr)
  assert.deepEqual(await seen(), [0, 0, 0, 0, 0])
  assert.equal((await api.get('/v1/payments')).status, 503)
})
