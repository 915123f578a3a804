import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { paymentIn } from '../support/page-states.ts'
import { type Service, startService } from '../support/service.ts'

const VISITS = 300

/** Milliseconds of CPU that this process has used. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

describe('The cost of a page', () => {
  let service: Service
  before(async () => {
    service = await startService('sqlite')
  })
  after(() => service.stop())

  it('is at most 1 ms of CPU, database and HTTP included', async () => {
    const payment = await paymentIn(await service.newAccount(), 'en')
    const { pathname: url } = new URL(payment._links.next_url.href)
    const visit = async () => {
      for (let visit = 0; visit < VISITS; visit++) {
        const answer = await service.apps[0]?.server.inject(url)
        assert.equal(answer?.statusCode, 200)
      }
    }
    await visit()
    const before = cpuTime()
    await visit()
    const cost = (cpuTime() - before) / VISITS
    assert.ok(cost < 1, `${cost.toFixed(3)} ms`)
  })

  it('is less than 10 KB of HTML', async () => {
    const api = await service.newAccount()
    const payment = await paymentIn(api, 'cy')
    const page = await api.postForm(payment._links.next_url.href, {})
    assert.ok(Buffer.byteLength(page.text) < 10_000)
  })
})
