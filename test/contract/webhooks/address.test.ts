import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCaseResolve } from '../../support/callback-urls.ts'
import type { Client } from '../../support/client.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { history } from '../../support/subscriber.ts'
import { cancelOne } from './payment-changes.ts'

/** DNS answers, used one after the other. */
let resolve = createCaseResolve()

onEveryDatabase(
  'Webhooks: callback addresses at delivery',
  service => {
    async function resultsOf(api: Client, callback_url: string): Promise<unknown[]> {
      resolve = createCaseResolve()
      const { status, body: webhook, text } = await api.post('/v1/webhooks', { callback_url })
      assert.equal(status, 201, text)
      assert.equal((await cancelOne(api)).status, 204)
      const [message] = await history(api, webhook)
      assert.equal(message.last_delivery_status, 'FAILED')
      return message.attempts.map(({ created_date, send_at, ...ending }: typeof message) => ending)
    }

    const twice = (result: string) =>
      Array(2).fill({ status: 'FAILED', status_code: null, response_time: null, result })

    test('a callback address that became private after registration is not connected to', async () => {
      const api = await service().newAccount()
      const results = await resultsOf(api, 'https://rebind.example.com/')
      assert.deepEqual(results, twice('address refused'))
    })

    test('a callback host that no longer resolves is not connected to', async () => {
      const api = await service().newAccount()
      const results = await resultsOf(api, 'https://nx.example.com/')
      assert.deepEqual(results, twice('name not resolved'))
    })
  },
  { resolve: host => resolve(host) },
)
