import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/app/config.ts'
import { verifySignature } from '../../src/cli/verify.ts'
import { createClient } from '../support/client.ts'
import { capture } from '../support/command.ts'
import { startService } from '../support/service.ts'
import { mistakesWith } from '../support/signature-mistakes.ts'
import { eventTypesOf, received, receiving, subscribe } from '../support/subscriber.ts'

const KEY = 'key-of-the-command-line'

test('farthing verify names each of 40 mistakes in six languages, as the header and as what the code computed', async t => {
  const service = await startService('sqlite', {
    ...receiving,
    env: { ...receiving.env, FARTHING_API_KEY: KEY },
  })
  t.after(() => service.stop())
  const api = createClient([service.baseUrl], KEY)
  const ledger = await subscribe(t, api)
  const archive = await subscribe(t, api, { subscriptions: ['card_payment_captured'] })
  const { payment_id } = await api.createPayment({
    description: "Crème & £5 'x' +1",
    metadata: {},
  })
  await api.post(`/v1/payments/${payment_id}/cancel`)
  assert.deepEqual(eventTypesOf(received(ledger)), ['card_payment_cancelled'])
  const { body = '' } = ledger.requests[0] ?? {}
  const nameOf = ({ url }: { url: string }) => new URL(url).host
  const mistakes = mistakesWith({
    body,
    key: ledger.webhook.signing_key,
    other: { name: nameOf(archive), key: archive.webhook.signing_key },
    webhook: nameOf(ledger),
  })
  const env = { FARTHING_API_KEY: KEY, FARTHING_URL: service.baseUrl }
  const message = JSON.parse(body).webhook_message_id
  for (const { language, code, computed, says } of mistakes)
    for (const [option, subject] of [
      ['signature', 'the header'],
      ['computed', 'what your code computed'],
    ] as const) {
      const options = { message, [option]: computed, json: true }
      const ran = await capture(() =>
        verifySignature(
          () => readConfig(env),
          env,
          options,
          async () => undefined,
        ),
      )
      const { matches, sentence } = JSON.parse(ran.stdout)
      assert.equal(sentence, `It does not match: ${subject} ${says}.`, `${language}: ${code}`)
      assert.deepEqual([ran.code, matches], [3, false])
    }
})
