import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import { createClient } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { card } from '../../support/journeys.ts'
import { startReceiver } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'

const WEEK = 7 * 24 * 60 * 60 * 1000

const receiver = await startReceiver({ plain: true })
after(() => receiver.close())

onEveryDatabase(
  'Expired test accounts',
  service => {
    test('after 7 days the pages of a test account are 404, its one-time tokens 400, and its webhooks silent', async () => {
      const parent = await service().newAccount()
      // Its clock stands still, so its payments do not age.
      const made = await ask(service(), parent, 'accounts', { frozen: true })
      const api = createClient(service().baseUrls, made.body.key)
      await api.post('/v1/webhooks', { callback_url: receiver.url })
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
  },
  { env: { FARTHING_CALLBACK_HOSTS: 'localhost' }, control: true },
)
