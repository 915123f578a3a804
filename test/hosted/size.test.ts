import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { paymentIn } from '../support/page-states.ts'
import { type Service, startService } from '../support/service.ts'

describe('A page', () => {
  let service: Service
  before(async () => {
    service = await startService('sqlite')
  })
  after(() => service.stop())

  it('is less than 10 KB of HTML', async () => {
    const api = await service.newAccount()
    const payment = await paymentIn(api, 'cy')
    const page = await api.postForm(payment._links.next_url.href, {})
    assert.ok(Buffer.byteLength(page.text) < 10_000)
  })
})
