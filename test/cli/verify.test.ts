import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { createClient } from '../support/client.ts'
import { runProcess } from '../support/process.ts'
import { startService } from '../support/service.ts'
import { receiving, subscribe } from '../support/subscriber.ts'

const KEY = 'key-of-the-command-line'

test('farthing verify names a mistake, as the header and as what the code computed', async t => {
  const service = await startService('sqlite', {
    ...receiving,
    env: { ...receiving.env, FARTHING_API_KEY: KEY },
  })
  t.after(() => service.stop())
  const api = createClient([service.baseUrl], KEY)
  const ledger = await subscribe(t, api)
  const { payment_id } = await api.createPayment()
  await api.post(`/v1/payments/${payment_id}/cancel`)
  const { body = '' } = ledger.requests[0] ?? {}
  const computed = createHmac('sha256', ledger.webhook.signing_key)
    .update(`${body}\n`)
    .digest('hex')
  const env = { FARTHING_API_KEY: KEY, FARTHING_URL: service.baseUrl }
  const message = JSON.parse(body).webhook_message_id
  for (const [option, subject] of [
    ['signature', 'the header'],
    ['computed', 'what your code computed'],
  ] as const) {
    const args = ['verify', '--message', message, `--${option}`, computed, '--json']
    const ran = await runProcess({ args, env })
    const { matches, sentence } = JSON.parse(ran.stdout)
    const says = `${subject} is made of the body with a newline at its end`
    assert.deepEqual([ran.code, matches, sentence], [3, false, `It does not match: ${says}.`])
  }
})
