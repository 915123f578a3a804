import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { authority } from '../../support/certificates.ts'
import { type Client, createClient } from '../../support/client.ts'
import { tempFolder } from '../../support/folders.ts'
import { authorise, read } from '../../support/journeys.ts'
import { type FarthingProcess, startProcess } from '../../support/process.ts'
import {
  answering,
  endingsOf,
  gated,
  type Reaction,
  received,
  type Subscriber,
  subscribe,
} from '../../support/subscriber.ts'
import { paymentPath } from './payment-changes.ts'

const KEY = 'a-key-for-crash-tests'
const folder = tempFolder()
const certificate = join(folder, 'authority.pem')
writeFileSync(certificate, authority)

/** A service on a database file of its own, that can be killed and started again. */
function crashable(t: TestContext, name: string) {
  let running: FarthingProcess
  t.after(() => running.kill())
  return {
    async start(): Promise<Client> {
      running = await startProcess({
        env: {
          DATABASE_URL: `sqlite:${join(folder, name)}.db`,
          FARTHING_API_KEY: KEY,
          FARTHING_CALLBACK_HOSTS: 'localhost',
          NODE_EXTRA_CA_CERTS: certificate,
        },
      })
      return createClient([running.baseUrl], KEY)
    },
    kill: () => running.kill(),
    stop: () => running.terminate(),
    output: () => running.output(),
  }
}

/** A receiver that does one thing until the service dies, and another after its next start. */
function changing(first: Reaction) {
  let react = first
  return {
    behaviour: { onRequest: (answer: Parameters<Reaction>[0]) => react(answer) },
    changeTo(next: Reaction) {
      react = next
    },
  }
}

const silence: Reaction = () => {}

/**
 * Waits for the delivery of the one message to end: a dead process keeps its claim for up to 10 seconds,
 * and the service looks for unsent messages every 5.
 */
async function ending(api: Client, subscriber: Subscriber): Promise<[string, number][]> {
  for (;;) {
    const found = await endingsOf(api, subscriber)
    if (!found.some(([status]) => status === 'PENDING')) return found
    await setTimeout(100)
  }
}

describe('After kill -9 during a delivery and the end of its claim, the next start', {
  concurrency: 4,
}, () => {
  test('sends the message once, with the same bytes', async t => {
    const service = crashable(t, 'once')
    let api = await service.start()
    const receiver = changing(silence)
    const subscriber = await subscribe(t, api, { behaviour: receiver.behaviour })
    const payment = await api.createPayment()
    const request = api.post(`${paymentPath(payment)}/cancel`).catch(() => 'no answer')
    await subscriber.next()
    await service.kill()
    assert.equal(await request, 'no answer')
    receiver.changeTo(answering(202))

    api = await service.start()
    await subscriber.next()
    assert.equal((await read(api, payment)).state.status, 'cancelled')
    assert.equal((await service.stop()).code, 0)
    api = await service.start()
    assert.deepEqual(await endingsOf(api, subscriber), [['SUCCESSFUL', 1]])
    await service.stop()
    const [first, second, ...more] = received(subscriber)
    assert.deepEqual(second, first)
    assert.equal(more.length, 0, 'the third start had nothing to send')
    assert.match(service.output(), /FARTHING_CALLBACK_HOSTS/, 'the start warns of it')
  })

  test('makes the one attempt that is left', async t => {
    const service = crashable(t, 'left')
    let api = await service.start()
    const receiver = changing(answer => {
      if (answer.nth === 1) answering(500)(answer)
    })
    const subscriber = await subscribe(t, api, { behaviour: receiver.behaviour })
    const payment = await api.createPayment()
    void api.post(`${paymentPath(payment)}/cancel`).catch(() => {})
    await subscriber.next(2)
    await service.kill()
    receiver.changeTo(answering(503))

    api = await service.start()
    await subscriber.next()
    await service.stop()
    api = await service.start()
    assert.deepEqual(await endingsOf(api, subscriber), [['FAILED', 2]])
    assert.equal(subscriber.requests.length, 3, 'of which one was cut off by the kill')
    await service.stop()
  })

  test('sends both messages of the change in order', async t => {
    const service = crashable(t, 'both')
    let api = await service.start()
    const receiver = changing(silence)
    const subscriber = await subscribe(t, api, { behaviour: receiver.behaviour })
    const payment = await api.createPayment({ authorisation_mode: 'moto_api' })
    void authorise(api, payment).catch(() => {})
    await subscriber.next()
    await service.kill()
    receiver.changeTo(answering(200))

    api = await service.start()
    await subscriber.next(2)
    const [, ...again] = received(subscriber)
    assert.deepEqual(
      again.map(({ event_type }) => event_type),
      ['card_payment_succeeded', 'card_payment_captured'],
    )
    await service.stop()
  })

  test('sends nothing to a webhook that was deleted before: FAILED', async t => {
    const service = crashable(t, 'deleted')
    let api = await service.start()
    const subscriber = await subscribe(t, api, { behaviour: { onRequest: silence } })
    const payment = await api.createPayment()
    void api.post(`${paymentPath(payment)}/cancel`).catch(() => {})
    await subscriber.next()
    await api.delete(`/v1/webhooks/${subscriber.webhook.external_id}`)
    await service.kill()

    api = await service.start()
    assert.deepEqual(await ending(api, subscriber), [['FAILED', 0]])
    assert.equal(subscriber.requests.length, 1, 'the one that was cut off')
    await service.stop()
  })
})

describe('SIGTERM during a delivery', () => {
  test('lets it and the request that waits for it end', async t => {
    const service = crashable(t, 'term')
    let api = await service.start()
    const gate = gated()
    const subscriber = await subscribe(t, api, { behaviour: gate.behaviour })
    const payment = await api.createPayment()
    const request = api.post(`${paymentPath(payment)}/cancel`)
    await subscriber.next()
    const stopped = service.stop()
    gate.open()
    assert.equal((await request).status, 204)
    assert.deepEqual(await stopped, { code: 0, signal: null })
    api = await service.start()
    assert.deepEqual(await endingsOf(api, subscriber), [['SUCCESSFUL', 1]])
    await service.stop()
  })
})
