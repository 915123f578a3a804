import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../src/app/config.ts'
import { startFarthing } from '../../src/app/start.ts'
import { createClient } from '../support/client.ts'
import { type Behaviour, startReceiver } from '../support/receiver.ts'
import { answering, receiving } from '../support/subscriber.ts'
import { holdAttempts } from '../support/time.ts'

const FARTHING_API_KEY = 'key-of-the-default-account'
const PATH_SECRET = 'secret-in-the-path'
const REASON_SECRET = 'secret-in-the-reason-phrase'
const BODY_SECRET = 'secret-in-the-body'
const REFUSED = 'connection failed (ECONNREFUSED)'
const EXPIRED = 'tls failed (CERT_HAS_EXPIRED)'

const cases: [behaviour: Behaviour, results: (number | string)[]][] = [
  [{ onRequest: answering(200) }, [200]],
  [{ onRequest: ({ response }) => response.writeHead(400, REASON_SECRET).end() }, [400, 400]],
  [{ refuses: true }, [REFUSED, REFUSED]],
  [{ certificate: 'expired' }, [EXPIRED, EXPIRED]],
]

test('Each attempt leaves a log line, with the status of the receiver or the code of the error, and no line has a secret', async t => {
  holdAttempts(t)
  const lines: string[] = []
  const logger = pino({ level: 'info' }, { write: line => void lines.push(line) })
  const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:', FARTHING_API_KEY, ...receiving.env }
  const farthing = await startFarthing({ ...receiving, config: readConfig(env), logger })
  t.after(() => farthing.close())
  const api = createClient([farthing.url], FARTHING_API_KEY)
  const secrets = [FARTHING_API_KEY, PATH_SECRET, REASON_SECRET, BODY_SECRET]
  for (const [behaviour, results] of cases) {
    const receiver = await startReceiver(behaviour)
    t.after(() => receiver.close())
    const callback_url = receiver.url.replace('/hook', `/${PATH_SECRET}?key=${PATH_SECRET}`)
    const { body: webhook } = await api.post('/v1/webhooks', { callback_url })
    const { payment_id, _links } = await api.createPayment({ description: BODY_SECRET })
    assert.equal((await api.post(`/v1/payments/${payment_id}/cancel`)).status, 204)
    await api.delete(`/v1/webhooks/${webhook.external_id}`)
    secrets.push(webhook.signing_key, _links.next_url_post.params.chargeTokenId)
    for (const { headers } of receiver.requests) secrets.push(String(headers['pay-signature']))

    const callback_host = new URL(callback_url).host
    const attempts = lines
      .map(line => JSON.parse(line))
      .filter(({ webhook_id }) => webhook_id === webhook.external_id)
    assert.deepEqual(
      attempts.map(({ time, pid, hostname, ms, ...line }) => line),
      results.map((result, i) => ({
        level: 30,
        event_type: 'card_payment_cancelled',
        payment_id,
        webhook_id: webhook.external_id,
        callback_host,
        result,
        msg: `card_payment_cancelled to ${callback_host}: ${result}, ${attempts[i]?.ms} ms`,
      })),
    )
    assert.ok(attempts.every(({ ms }) => Number.isInteger(ms) && ms >= 0))
  }
  for (const secret of secrets)
    assert.ok(!lines.join('').includes(secret), `${secret} is in the log`)
})
