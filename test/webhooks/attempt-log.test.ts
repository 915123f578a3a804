import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { authority } from '../support/certificates.ts'
import { type Body, createClient } from '../support/client.ts'
import { tempFolder } from '../support/folders.ts'
import { startProcess } from '../support/process.ts'
import { type Behaviour, startReceiver } from '../support/receiver.ts'
import { answering } from '../support/subscriber.ts'

const FARTHING_API_KEY = 'key-of-the-default-account'
const PATH_SECRET = 'secret-in-the-path'
const REASON_SECRET = 'secret-in-the-reason-phrase'

/** Cancels a payment whose webhook is at a receiver that behaves like this. Returns the lines about its attempts. */
async function attemptLines(t: TestContext, behaviour: Behaviour) {
  const certificate = join(tempFolder(), 'authority.pem')
  writeFileSync(certificate, authority)
  const receiver = await startReceiver(behaviour)
  t.after(() => receiver.close())
  const farthing = await startProcess({
    env: {
      FARTHING_API_KEY,
      DATABASE_URL: 'sqlite::memory:',
      FARTHING_CALLBACK_HOSTS: 'localhost',
      NODE_EXTRA_CA_CERTS: certificate,
      LOG_LEVEL: 'info',
    },
  })
  t.after(() => farthing.kill())
  const api = createClient([farthing.baseUrl], FARTHING_API_KEY)
  const callback_url = receiver.url.replace('/hook', `/${PATH_SECRET}?key=${PATH_SECRET}`)
  const registered = await api.post('/v1/webhooks', { callback_url })
  assert.equal(registered.status, 201, registered.text)
  const webhook: Body = registered.body
  const payment = await api.createPayment({ description: 'secret-in-the-body' })
  const cancelled = await api.post(`/v1/payments/${payment.payment_id}/cancel`)
  assert.equal(cancelled.status, 204, cancelled.text)
  await farthing.terminate()

  const signatures = receiver.requests.map(({ headers }) => String(headers['pay-signature']))
  const token: string = payment._links.next_url_post.params.chargeTokenId
  const secrets = [FARTHING_API_KEY, webhook.signing_key, token, ...signatures]
  for (const secret of [...secrets, PATH_SECRET, REASON_SECRET, 'secret-in-the-body'])
    assert.ok(!farthing.output().includes(secret), `${secret} is in the log`)

  const lines: Body[] = farthing
    .output()
    .split('\n')
    .filter(line => line.includes('"callback_host"'))
    .map(line => JSON.parse(line))
  for (const line of lines) {
    assert.equal(line.level, 30, 'info')
    assert.equal(line.event_type, 'card_payment_cancelled')
    assert.equal(line.payment_id, payment.payment_id)
    assert.equal(line.webhook_id, webhook.external_id)
    assert.equal(line.callback_host, `localhost:${receiver.port}`)
    assert.ok(Number.isInteger(line.ms) && line.ms >= 0, `${line.ms} ms`)
    assert.equal(
      line.msg,
      `card_payment_cancelled to ${line.callback_host}: ${line.result}, ${line.ms} ms`,
    )
  }
  return lines.map(({ result }) => result)
}

test('A delivered message leaves one log line, with the status of the receiver.', async t => {
  assert.deepEqual(await attemptLines(t, { onRequest: answering(200) }), [200])
})

test('Each of two attempts that a receiver refuses with 400 leaves a log line, without its reason phrase.', async t => {
  const refusing: Behaviour = {
    onRequest: ({ response }) => response.writeHead(400, REASON_SECRET).end(),
  }
  assert.deepEqual(await attemptLines(t, refusing), [400, 400])
})

test('Each of two attempts whose connection is refused leaves a log line with the error code.', async t => {
  const refused = 'connection failed (ECONNREFUSED)'
  assert.deepEqual(await attemptLines(t, { refuses: true }), [refused, refused])
})
