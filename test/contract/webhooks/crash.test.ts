import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Behaviour } from '../../../src/core/account.ts'
import { authority } from '../../support/certificates.ts'
import { type Client, createClient } from '../../support/client.ts'
import { tempDatabase, tempFolder } from '../../support/folders.ts'
import { authorise, paidPayment, read, statusesOf } from '../../support/journeys.ts'
import { type FarthingProcess, startProcess } from '../../support/process.ts'
import { endsOf, eventTypesOf, received, subscribe } from '../../support/subscriber.ts'

const KEY = 'a-key-for-crash-tests'

function crashable(t: TestContext, behaviour: Behaviour = 'specification') {
  const certificate = join(tempFolder(), 'authority.pem')
  writeFileSync(certificate, authority)
  const env = {
    DATABASE_URL: tempDatabase(),
    FARTHING_API_KEY: KEY,
    FARTHING_CALLBACK_HOSTS: 'localhost',
    NODE_EXTRA_CA_CERTS: certificate,
    FARTHING_CONTROL: 'true',
    FARTHING_BEHAVIOUR: behaviour,
  }
  let running: FarthingProcess
  t.after(() => running.kill())
  return {
    async start(): Promise<Client> {
      running = await startProcess({ env })
      return createClient([running.baseUrl], KEY, behaviour)
    },
    kill: () => running.kill(),
    stop: () => running.terminate(),
    output: () => running.output(),
  }
}

test('After kill -9 during a delivery and the end of its claim, the next start sends both messages of the change once, in order, with the same bytes', async t => {
  const service = crashable(t)
  let api = await service.start()
  let isKilled = false
  const subscriber = await subscribe(t, api, {
    behaviour: { onRequest: ({ response }) => void (isKilled && response.writeHead(202).end()) },
  })
  const payment = await api.createPayment({ authorisation_mode: 'moto_api' })
  const request = authorise(api, payment).catch(() => 'no answer')
  await subscriber.next()
  await service.kill()
  assert.equal(await request, 'no answer')
  isKilled = true

  api = await service.start()
  await subscriber.next(2)
  assert.equal((await read(api, payment)).state.status, 'success')
  assert.equal((await service.stop()).code, 0)
  api = await service.start()
  assert.deepEqual(await endsOf(api, subscriber), Array(2).fill(['SUCCESSFUL', 1]))
  const [cutOff, ...sent] = received(subscriber)
  assert.deepEqual(sent[0], cutOff)
  const types = ['card_payment_succeeded', 'card_payment_captured']
  assert.deepEqual(eventTypesOf(sent), types, 'the third start had nothing to send')
  while (!service.output().includes('FARTHING_CALLBACK_HOSTS')) await pause(20) // the start warns of it
})

test('After kill -9 between a step that was due and its message, the next start sends the message once', async t => {
  const service = crashable(t, 'govuk-pay')
  let api = await service.start()
  const subscriber = await subscribe(t, api, { at: '/control/webhooks' })
  const payment = await paidPayment(api)
  await subscriber.next()
  // The message about this step follows half a second later.
  await api.advance(5_000)
  await service.kill()
  api = await service.start()
  await subscriber.next()
  assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'submitted', 'success'])
  assert.equal((await read(api, payment)).refund_summary.status, 'available')
  assert.deepEqual(eventTypesOf(received(subscriber)).slice(1), ['card_payment_captured'])
})
