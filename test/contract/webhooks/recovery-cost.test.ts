import { test } from 'node:test'
import { holdSends } from '../../support/held-send.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import { watchedService } from '../../support/watched.ts'

test('Looking for unsent messages reads no history: it happens every few seconds', async t => {
  const held = holdSends()
  const { api, service, forget, assertPlans } = await watchedService(t, { send: held.send })
  await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.com/' })
  const request = cancelledPayment(api)
  await held.next()
  service.clock.advance(60_000)
  forget()
  const [app] = service.apps
  void app?.deliveries.recover()
  await held.next()
  held.endAll(200)
  await request
  await app?.deliveries.settled()
  // Two searches, a claim and the message itself.
  await assertPlans(/\b(messages|webhook_messages)\b/, /_pending|\(message_id=\?\)/, 4)
})
