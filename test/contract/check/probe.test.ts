import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import timers from 'node:timers/promises'
import { MINUTE } from '../../../src/core/time.ts'
import { briefOf } from '../../support/assertions.ts'
import { hex, type Keys } from '../../support/checking-receivers.ts'
import type { Body, Client } from '../../support/client.ts'
import { runHere } from '../../support/command.ts'
import { signIn } from '../../support/console.ts'
import { ask, made } from '../../support/control.ts'
import type { Received } from '../../support/receiver.ts'
import { type JudgingReceiver, judging, judgingReceivers } from '../../support/receivers.ts'
import { flush } from '../../support/record.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { history, messagesAndPayments, receiving, subscribe } from '../../support/subscriber.ts'

/** Payments for a receiver that answers 2xx: 3 true messages, 3 of each of two forgeries, and 1 for all else. */
const ENOUGH = 10

type Judge = JudgingReceiver['judge']

const receiverWith = (name: string) => judgingReceivers[name]?.judge ?? assert.fail(name)

onEveryDatabase('Probing a receiver', { ...receiving, control: true }, service => {
  const probe = async (api: Client, id: string) => {
    const body = await made(ask(service(), api, `webhooks/${id}/probe`, {}))
    assert.equal(body.findings.length, 11)
    for (const [i, { rule }] of body.findings.entries()) assert.equal(rule, `R${i + 1}`)
    return body
  }
  /** The payments were paid ten minutes before the account gets its webhook. */
  const withReceiver = async (t: TestContext, judge: Judge, payments = 1, api?: Client) => {
    const client = api ?? (await service().newAccount())
    const known: string[] = []
    for (let i = 0; i < payments; i++) {
      const { body } = await ask(service(), client, 'payments', { scenario: 'success' })
      known.push(body.payment_id)
    }
    await client.advance(10 * MINUTE)
    const keys: Keys = { own: '', other: '' }
    const receiver = judging(judge, {
      keys,
      knows: id => known.includes(id),
      read: async id => (await client.get(`/v1/payments/${id}`)).body.state?.status ?? 'none',
      pass: () => service().clock.advance(10_000),
    })
    receivers.push(receiver)
    const at = api ? '/control/webhooks' : '/v1/webhooks'
    const subscriber = await subscribe(t, client, { behaviour: receiver, at })
    keys.own = subscriber.webhook.signing_key
    return { api: client, subscriber }
  }
  const receivers: { isBusy(): boolean }[] = []
  const rows = () => messagesAndPayments(service())
  /** Stops the clock of probes, so that no machine is too slow for their 20 seconds. Returns a function to move it. */
  const stopClock = (t: TestContext) => {
    let now = performance.now()
    t.mock.method(performance, 'now', () => now)
    t.mock.method(timers, 'setTimeout', async () => {
      do await new Promise(setImmediate)
      while (receivers.some(({ isBusy }) => isBusy()))
      // Instead of time, a probe waits for its receivers and for the record, which the other instance writes later.
      await flush(service())
    })
    return (ms: number) => {
      now += ms
    }
  }

  test('the probe finds the mistakes of each receiver and no others, and changes nothing', async t => {
    stopClock(t)
    // PostgreSQL gets the receivers whose recorded reads are judged too. Of the others only the answers are judged.
    const all = Object.entries(judgingReceivers).filter(
      ([name, { probed }]) => probed && (service().kind === 'sqlite' || /nothing|read/.test(name)),
    )
    const accounts = await Promise.all(
      all.map(([name, { judge }]) =>
        withReceiver(t, judge, /nothing|200|no key/.test(name) ? ENOUGH : 1),
      ),
    )
    const before = await rows()
    const probed: Body[] = []
    for (const { api, subscriber } of accounts)
      probed.push(await probe(api, subscriber.webhook.external_id))
    for (const [i, { posts, findings }] of probed.entries()) {
      const [name, { probed: expected = {} }] = all[i] ?? assert.fail()
      const broken = findings.filter(({ level }: Body) => level !== 'pass')
      const found = Object.fromEntries(broken.map(({ rule, level }: Body) => [rule, level]))
      assert.deepEqual(found, expected, `${name}: ${JSON.stringify(broken)}`)
      for (const { rule, times } of broken)
        if (!/^R([123]|11)$/.test(rule) && expected[rule] !== 'not seen')
          assert.ok(times >= 2, `${name}: ${rule} is found twice`)
      assert.equal(accounts[i]?.subscriber.requests.length, posts, name)
      assert.ok(posts <= 48, `${name}: ${posts}`)
    }
    assert.equal(await rows(), before)
    for (const { api, subscriber } of accounts)
      assert.deepEqual(await history(api, subscriber.webhook), [], 'they are no messages')
  })

  test('the most valuable rules come first, and with five old payments the forgeries are compared too', async t => {
    stopClock(t)
    const name = 'answers 200, and does nothing about statuses that it does not know'
    const { api, subscriber } = await withReceiver(t, receiverWith(name), 5)
    const { findings } = await probe(api, subscriber.webhook.external_id)
    const levels = Object.fromEntries(findings.map(({ rule, level }: Body) => [rule, level]))
    const { R1, R2, R9, R10, R11 } = levels
    assert.deepEqual([R1, R2, R9, R10, R11], ['pass', 'pass', 'pass', 'fail', 'pass'])
    const { webhook, requests } = subscriber
    const isForged = ({ body, headers }: Received) =>
      headers['pay-signature'] !== hex(body, webhook.signing_key)
    const asGovukPay = requests.map(({ body }) => body.includes('"PAYMENT"'))
    assert.deepEqual(asGovukPay.slice(0, 6), [false, true, false, true, true, false])
    assert.equal(requests.findIndex(isForged), 5)
    // A receiver may have another reason to read payments that were paid just now.
    const young = await withReceiver(t, receiverWith(name))
    for (let i = 0; i < 4; i++) await ask(service(), young.api, 'payments', { scenario: 'success' })
    const few = await probe(young.api, young.subscriber.webhook.external_id)
    assert.match(few.findings[0].sentence, /with 3 more payments that were paid ten minutes ago/)
  })

  test('the true message of an account that behaves as GOV.UK Pay is that of R9, and is not sent twice', async t => {
    stopClock(t)
    const api = await service().newAccount('govuk-pay')
    const judge = receiverWith('knows only the statuses of the API')
    const { subscriber } = await withReceiver(t, judge, 1, api)
    const { findings } = await probe(api, subscriber.webhook.external_id)
    const finding = (id: string) => findings.find(({ rule }: Body) => rule === id)
    assert.deepEqual([finding('R9').level, finding('R10').level], ['pass', 'fail'])
    assert.match(finding('R9').sentence, /^The account behaves so/)
    const bodies = subscriber.requests.map(({ body }) => JSON.parse(body))
    assert.ok(bodies.every(({ resource_type }) => resource_type === 'PAYMENT'))
  })

  test('a probe of a receiver that is slow ends within 20 seconds', async t => {
    const pass = stopClock(t)
    let waited = 0
    const slow: Judge = arrived => {
      waited += 1_900
      pass(1_900)
      return receiverWith('checks rightly')(arrived)
    }
    const { api, subscriber } = await withReceiver(t, slow)
    const { findings } = await probe(api, subscriber.webhook.external_id)
    assert.ok(waited <= 20_000, `${waited} ms`)
    const levels = findings.map(({ level }: Body) => level)
    assert.deepEqual([levels[0], levels[8], levels[9]], ['pass', 'pass', 'pass'])
    assert.match(findings[7].sentence, /^The probe ended before/)
  })

  test('the probe evaluates no rule if the true message is refused, or if no payment is paid, and is a 409 if the webhook is deactivated', async t => {
    stopClock(t)
    const { api, subscriber } = await withReceiver(t, receiverWith('prints JSON with two spaces'))
    const refused = await probe(api, subscriber.webhook.external_id)
    assert.equal(refused.posts, 1)
    for (const { level, sentence } of refused.findings) {
      assert.equal(level, 'not seen')
      assert.match(sentence, /mend that first \(W3\)\. The receiver answered 401 Unauthorized/)
    }
    const { external_id } = subscriber.webhook
    await api.delete(`/v1/webhooks/${external_id}`)
    const inactive = await ask(service(), api, `webhooks/${external_id}/probe`, {})
    assert.deepEqual([briefOf(inactive), subscriber.requests.length], ['409 C0409', 1])
    const empty = await withReceiver(t, receiverWith('checks rightly'), 0)
    const none = await probe(empty.api, empty.subscriber.webhook.external_id)
    assert.equal(none.posts, 0)
    assert.match(none.findings[0].sentence, /^No payment of the account is paid/)
  })

  test('the page of a webhook says what a probe sends, and shows the findings, which farthing check adds too', async t => {
    stopClock(t)
    const strict = receiverWith('is strict about unknown fields')
    const { api, subscriber } = await withReceiver(t, strict)
    const id = subscriber.webhook.external_id
    const browser = await signIn(service(), api)
    assert.match((await browser.get(`webhooks/${id}`)).text, /Sends at most 48 messages about paid/)
    const { status, text } = await browser.post(`webhooks/${id}/probe`, {})
    assert.equal(status, 200)
    assert.match(text, /\d+ messages were sent\. 0 fail, 1 warn, 10 passed, 0 not seen\./)
    assert.match(text, /2 times, the newest/)
    assert.match(text, /warn R7 An unknown field The receiver refuses a message with a field/i)
    const run = async (...args: string[]) =>
      runHere({
        args: ['check', '--probe', id, ...args],
        env: { FARTHING_API_KEY: api.key ?? '', FARTHING_URL: service().baseUrl },
      })
    const found = await run('--fail-on', 'warn', '--ignore', 'W1,W2,W3,W4')
    assert.equal(found.code, 3)
    assert.match(found.stdout, /R7 warn/)
    await subscriber.close()
    const none = await run()
    assert.match(none.stdout, /Not judged: R1, R2, .*R11\n.*mend that first \(W3\)/)
  })
})
