import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import { type Client, createClient } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { card } from '../../support/journeys.ts'
import type { Answer } from '../../support/receiver.ts'
import { onEveryDatabase, type Service } from '../../support/service.ts'
import { receiving, subscribe } from '../../support/subscriber.ts'

const WEEK = 7 * 24 * 60 * 60 * 1000

/** A test account whose clock stands still, so its payments do not age. */
async function expiringAccount(service: Service): Promise<Client> {
  const made = await ask(service, await service.newAccount(), 'accounts', { frozen: true })
  return createClient(service.baseUrls, made.body.key)
}

const fail = (response: ServerResponse) => response.writeHead(500).end()

onEveryDatabase(
  'Expired test accounts',
  service => {
    test('after 7 days the pages of a test account are 404, its one-time tokens 400, and its webhooks silent', async t => {
      const api = await expiringAccount(service())
      const receiver = await subscribe(t, api)
      const web = await api.createPayment()
      const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
      service().clock.advance(WEEK)
      assert.equal((await api.get('/v1/payments')).status, 401)
      const page = web._links.next_url.href
      assert.equal((await api.get(page)).status, 404)
      assert.equal((await api.postForm(page, { scenario: 'declined' })).status, 404)
      const posted = { ...moto._links.auth_url_post.params, ...card }
      assertError(await api.post('/v1/auth', posted), 400, 'P1211')
      assert.equal(receiver.requests.length, 0)
    })

    test('a message that is unsent when its test account expires gets no further attempt', async t => {
      const held: ServerResponse[] = []
      const onRequest = ({ response, nth }: Answer) =>
        nth === 1 ? held.push(response) : fail(response)
      const api = await expiringAccount(service())
      const failing = await subscribe(t, api, { behaviour: { onRequest } })
      const payment = await api.createPayment()
      const cancelled = api.post(`/v1/payments/${payment.payment_id}/cancel`)
      await failing.next()
      service().clock.advance(WEEK)
      held.forEach(fail)
      assert.equal((await cancelled).status, 204)
      assert.equal(failing.requests.length, 1)
    })
  },
  { ...receiving, control: true },
)
