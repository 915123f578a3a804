import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hex, right, signatureIn } from '../../support/checking-receivers.ts'
import type { Body, Client } from '../../support/client.ts'
import { runHere } from '../../support/command.ts'
import { signIn } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import type { Received } from '../../support/receiver.ts'
import { onSharedDatabases } from '../../support/service.ts'
import {
  history,
  messagesAndPayments,
  type Subscriber,
  subscribe,
} from '../../support/subscriber.ts'

/** Milliseconds in which a probe looks for what its receiver reads. */
const READ_WITHIN = 5_000
/** Milliseconds within which two messages arrive that are sent at once, also on a busy machine. */
const SAME_MOMENT = 200
const TEN_MINUTES = 10 * 60 * 1000
/** Three true messages, three of each of two forgeries, and one for all else: for a receiver that answers 2xx to them. */
const ENOUGH = 10

/** What a receiver knows of a message. */
type Arrived = {
  request: Received
  message: Body
  isRight: boolean
  /** How often a message with this identifier has arrived, this time included. */
  times: number
  /** Resolves after a while to whether no other message was under way meanwhile. */
  isAlone: () => Promise<boolean>
  isKnownPayment: boolean
  key: string
  /** Reads the payment, and resolves to its status; 'none' if it does not exist. */
  read: () => Promise<string>
}

type Judge = (arrived: Arrived) => number | Promise<number>

const right401 = (arrived: Arrived): number => (arrived.isRight ? 200 : 401)
const refusing =
  (isRefused: (arrived: Arrived) => boolean, status = 400): Judge =>
  arrived =>
    arrived.isRight && isRefused(arrived) ? status : right401(arrived)
const expecting =
  (expected: (body: string, key: string) => string): Judge =>
  ({ request, key }) =>
    signatureIn(request) === expected(request.body, key) ? 200 : 401

const API_STATUSES = [
  'created',
  'started',
  'submitted',
  'capturable',
  'success',
  'failed',
  'cancelled',
  'error',
]

/** Of another public client: the statuses that it expects with each event. */
const STATUSES_OF: Record<string, string[]> = {
  card_payment_succeeded: ['success', 'submitted', 'capturable'],
  card_payment_captured: ['success'],
  card_payment_failed: ['failed'],
  card_payment_cancelled: ['cancelled', 'failed'],
  card_payment_refunded: ['success'],
}

/** Each receiver, and the findings that are no pass. */
const receivers: Record<string, [judge: Judge, found: Record<string, string>]> = {
  // As a third public client does, which goes by the event alone and takes one that it does not know.
  'checks rightly': [right401, {}],
  'checks nothing': [
    async ({ read }) => {
      await read()
      return 200
    },
    { R1: 'fail', R2: 'fail', R11: 'fail' },
  ],
  'answers 200, whatever comes': [() => 200, { R1: 'not seen', R2: 'not seen', R11: 'not seen' }],
  'answers 200, and ignores what is wrong': [
    async ({ isRight, read }) => {
      if (isRight) await read()
      return 200
    },
    {},
  ],
  'prints JSON again': [
    expecting((body, key) => hex(JSON.stringify(JSON.parse(body)), key)),
    { R5: 'fail' },
  ],
  'reads Latin-1': [
    expecting((body, key) => hex(Buffer.from(body).toString('latin1'), key)),
    { R6: 'fail' },
  ],
  'is not idempotent': [refusing(({ times }) => times > 1, 409), { R3: 'warn' }],
  'needs to know the payment': [
    refusing(({ isKnownPayment }) => !isKnownPayment, 404),
    { R4: 'warn', R10: 'not seen' },
  ],
  'is strict about unknown fields': [
    refusing(({ message }) => 'a_field_that_is_new' in message.resource),
    { R7: 'warn' },
  ],
  'fails when two come at once': [
    async arrived => (arrived.isRight ? ((await arrived.isAlone()) ? 200 : 500) : 401),
    { R8: 'warn' },
  ],
  'needs the links': [
    refusing(({ message }) => !message.resource._links, 500),
    { R9: 'warn', R10: 'not seen' },
  ],
  // The statuses that a public client of a department knows: it answers 500 to any other.
  'knows only the statuses of the API': [
    refusing(({ message }) => !API_STATUSES.includes(message.resource.state.status), 500),
    { R10: 'fail' },
  ],
  // That client reads the payment and compares its status with the event: it answers 500 where they do not match.
  'reads the payment and compares its status with the event': [
    async ({ isRight, message, read }) => {
      if (!isRight) return 401
      return STATUSES_OF[message.event_type]?.includes(await read()) ? 200 : 500
    },
    { R4: 'not seen', R10: 'not seen' },
  ],
  'has no key': [
    async ({ request, key, read }) => {
      const expected = ['undefined', key].map(each => hex(request.body, each))
      if (!expected.includes(signatureIn(request) ?? '')) return 401
      await read()
      return 200
    },
    { R11: 'fail' },
  ],
}
const ids = Array.from({ length: 11 }, (_, i) => `R${i + 1}`)

onSharedDatabases(
  'Probing a receiver',
  service => {
    const probe = async (api: Client, id: string) => {
      const { status, body } = await ask(service(), api, `webhooks/${id}/probe`, {})
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(
        body.findings.map(({ rule }: Body) => rule),
        ids,
      )
      return body
    }
    /** An account with paid payments that were over for ten minutes before it has a webhook. */
    const withReceiver = async (
      t: TestContext,
      judge: Judge,
      payments = 1,
    ): Promise<{ api: Client; subscriber: Subscriber }> => {
      const api = await service().newAccount()
      const known: string[] = []
      for (let i = 0; i < payments; i++) {
        const { body } = await ask(service(), api, 'payments', { scenario: 'success' })
        known.push(body.payment_id)
      }
      await api.advance(TEN_MINUTES)
      const seen = new Map<string, number>()
      let underWay = 0
      let mostUnderWay = 0
      let key = ''
      const subscriber = await subscribe(t, api, {
        behaviour: {
          plain: true,
          onRequest: async ({ request, response }) => {
            looks = 0
            const message = JSON.parse(request.body)
            const { webhook_message_id: id, resource_id } = message
            seen.set(id, (seen.get(id) ?? 0) + 1)
            underWay += 1
            mostUnderWay = underWay === 1 ? 1 : Math.max(mostUnderWay, underWay)
            const status = await judge({
              request,
              message,
              key,
              isRight: signatureIn(request) === right(request.body, { own: key, other: '' }),
              times: seen.get(id) ?? 0,
              isAlone: async () => {
                await sleep(SAME_MOMENT)
                return mostUnderWay === 1
              },
              isKnownPayment: known.includes(resource_id),
              read: async () =>
                (await api.get(`/v1/payments/${resource_id}`)).body.state?.status ?? 'none',
            })
            underWay -= 1
            response.writeHead(status).end()
          },
        },
      })
      key = subscriber.webhook.signing_key
      return { api, subscriber }
    }
    const rows = () => messagesAndPayments(service())
    let looks = 0
    /**
     * Stops the clock of the probes, so that no machine is too slow for their 20 seconds. Only `pass` moves it, and the third
     * look at the record in which no message arrives.
     */
    const stopClock = (t: TestContext): { pass(ms: number): void } => {
      let now = performance.now()
      const pass = (ms: number) => {
        now += ms
      }
      t.mock.method(performance, 'now', () => now)
      for (const { recorder = assert.fail() } of service().apps) {
        const { flush } = recorder
        t.mock.method(recorder, 'flush', () => {
          looks += 1
          if (looks === 3) pass(READ_WITHIN)
          return flush()
        })
      }
      return { pass }
    }

    test('each of fourteen receivers is found to do what it does, and nothing else, and nothing changes', async t => {
      stopClock(t)
      // Of these the record of what they read is judged too, and of the others their answers alone.
      const all = Object.entries(receivers).filter(
        ([name]) => service().kind === 'sqlite' || /nothing|ignores|reads the/.test(name),
      )
      const accounts = await Promise.all(
        all.map(([name, [judge]]) =>
          withReceiver(t, judge, /nothing|200|no key/.test(name) ? ENOUGH : 1),
        ),
      )
      const before = await rows()
      const probed: Body[] = []
      for (const { api, subscriber } of accounts)
        probed.push(await probe(api, subscriber.webhook.external_id))
      for (const [i, { posts, findings }] of probed.entries()) {
        const [name, [, expected]] = all[i] ?? ['', [right401, {}]]
        const broken = findings.filter(({ level }: Body) => level !== 'pass')
        const found = Object.fromEntries(broken.map(({ rule, level }: Body) => [rule, level]))
        assert.deepEqual(found, expected, `${name}: ${JSON.stringify(broken)}`)
        for (const { rule, times } of broken)
          if (!/^R([123]|11)$/.test(rule) && expected[rule] !== 'not seen')
            assert.ok(times >= 2, `${rule} is found twice`)
        assert.equal(accounts[i]?.subscriber.requests.length, posts, name)
        assert.ok(posts <= 48, name)
      }
      assert.equal(await rows(), before)
      for (const { api, subscriber } of accounts)
        assert.deepEqual(await history(api, subscriber.webhook), [], 'they are no messages')
    })

    test('a probe of a receiver that is slow ends within 20 seconds', async t => {
      const clock = stopClock(t)
      let waited = 0
      const slow: Judge = arrived => {
        waited += 1_900
        clock.pass(1_900)
        return right401(arrived)
      }
      const { api, subscriber } = await withReceiver(t, slow)
      const { findings } = await probe(api, subscriber.webhook.external_id)
      assert.ok(waited <= 20_000, `${waited} ms`)
      assert.match(findings.at(-1).level, /pass/)
      assert.match(findings[9].sentence, /^The probe ended before/)
    })

    test('nothing is judged where the true message is refused, and where no payment is paid', async t => {
      stopClock(t)
      const wrong = expecting((body, key) => hex(JSON.stringify(JSON.parse(body), null, 2), key))
      const { api, subscriber } = await withReceiver(t, wrong)
      const refused = await probe(api, subscriber.webhook.external_id)
      assert.equal(refused.posts, 1)
      assert.equal(subscriber.requests.length, 1)
      for (const { level, sentence } of refused.findings) {
        assert.equal(level, 'not seen')
        assert.match(sentence, /mend that first \(W3\)\. The receiver answered 401 Unauthorized/)
      }
      const empty = await withReceiver(t, right401, 0)
      const none = await probe(empty.api, empty.subscriber.webhook.external_id)
      assert.equal(none.posts, 0)
      assert.match(none.findings[0].sentence, /^No payment of the account is paid/)
    })

    test('the page of a webhook says what a probe sends, and shows what was found; farthing check adds it', async t => {
      stopClock(t)
      const strict = refusing(({ message }) => 'a_field_that_is_new' in message.resource)
      const { api, subscriber } = await withReceiver(t, strict)
      const id = subscriber.webhook.external_id
      const browser = await signIn(service(), api)
      assert.match(
        (await browser.get(`webhooks/${id}`)).text,
        /Sends at most 48 messages about paid/,
      )
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

    test('an unknown webhook is a 404, and one that is deactivated a 409', async t => {
      const { api, subscriber } = await withReceiver(t, right401)
      const path = `webhooks/${subscriber.webhook.external_id}/probe`
      const refusedWith = async (asked: string) => {
        const { status, body } = await ask(service(), api, asked, {})
        return [status, body.code]
      }
      assert.deepEqual(await refusedWith('webhooks/unknown/probe'), [404, 'C0200'])
      await api.delete(`/v1/webhooks/${subscriber.webhook.external_id}`)
      assert.deepEqual(await refusedWith(path), [409, 'C0409'])
      assert.equal(subscriber.requests.length, 0)
    })
  },
  { control: true, receives: true },
)
