/** The requests of the script of live pages. test/browser/console-live.test.ts tests what it does then. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pages } from '../../../src/tools/console/pages.ts'
import { createAgreement } from '../../support/agreements.ts'
import { consoleOf, enter, type Shown } from '../../support/console.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { receiving, subscribe } from '../../support/subscriber.ts'

onEveryDatabase('A live page of the console', receiving, service => {
  test('every live page says when what it shows has changed, whatever its filter, and not by itself', async t => {
    const { api, browser } = await enter(service())
    const { webhook } = await subscribe(t, api)
    const declined = async () => {
      const payment = await api.createPayment({ reference: 'R-live' })
      await browser.post(`payments/${payment.payment_id}/complete`, { scenario: 'declined' })
    }
    await declined()
    const { agreement_id } = await createAgreement(api)
    const fields = { reference: 'R-live', set_up_agreement: agreement_id }
    const { payment_id } = await api.createPayment(fields)
    const { body } = await api.get(`/v1/webhooks/${webhook.external_id}/messages`)
    const message = `messages/${body.results[0].external_id}`
    const one = `webhooks/${webhook.external_id}`
    const filtered = 'payments?status=created payments?status=error&q=r-live requests?last=5'.split(
      ' ',
    )
    const lists = ['', 'payments', 'requests', 'agreements', 'deliveries', 'webhooks', ...filtered]
    const things = [`payments/${payment_id}`, `agreements/${agreement_id}`, one, message]
    const others = [`${one}?delivery=SUCCESSFUL`, 'requests?operation=readPayment']
    const paths = [...lists, ...things, ...others]
    for (const { path } of pages.filter(({ isLive }) => isLive)) {
      const address = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '\\w+')}$`)
      const found = paths.find(each => address.test(each))
      assert.notEqual(found, undefined, `${path} is live`)
    }
    const shown = new Map<string, Shown>()
    for (const path of paths) shown.set(path, await browser.get(path))
    const changed = async () => {
      const found: string[] = []
      for (const [path, page] of shown) {
        const { status } = await browser.look(path, page)
        assert.ok(status === 200 || status === 304, path)
        if (status === 200) found.push(path)
      }
      return found
    }
    assert.deepEqual(await changed(), [])
    service().clock.advance(5 * 60_000 + 1)
    assert.deepEqual(await changed(), [], 'time alone changes nothing')
    await browser.post(`payments/${payment_id}/complete`, { scenario: 'error' })
    await api.get(`/v1/payments/${payment_id}`)
    await createAgreement(api)
    await browser.post(`${message}/send`)
    assert.deepEqual(await changed(), paths)
  })

  test('a live list counts what is newer than it shows, under its filter, of its account only', async () => {
    const { api, browser } = await enter(service())
    const filtered = ['requests?operation=cancelPayment', 'requests?text=R-ONE']
    const paths = ['payments', 'payments?q=r-ONE', 'requests', ...filtered]
    const newerThan = async () => {
      const pages = await Promise.all(paths.map(path => browser.get(path)))
      return () =>
        Promise.all(pages.map(async (page, i) => (await browser.look(paths[i]!, page)).newer))
    }
    const ofNone = await newerThan()
    assert.deepEqual(await ofNone(), [0, 0, 0, 0, 0])
    await api.createPayment({ reference: 'R-one' })
    const ofOne = await newerThan()
    service().clock.advance(8)
    const { payment_id } = await api.createPayment()
    await (await service().newAccount()).createPayment()
    assert.deepEqual(await ofNone(), [2, 1, 2, 0, 1])
    assert.deepEqual(await ofOne(), [1, 0, 1, 0, 0])
    const page = await browser.get(`payments/${payment_id}`)
    service().clock.advance(1_500)
    await api.post(`/v1/payments/${payment_id}/cancel`)
    service().clock.advance(2_500)
    const look = await browser.look(`payments/${payment_id}`, page)
    assert.deepEqual([look.status, look.ago], [200, 2_500])
  })

  test('a look is refused where the page would be, and from the page of another account', async () => {
    const { browser } = await enter(service())
    const other = await enter(service())
    const { payment_id } = await other.api.createPayment()
    const page = await other.browser.get('payments')
    assert.equal((await browser.look('payments', page)).status, 409)
    assert.equal((await browser.look(`payments/${payment_id}`, page)).status, 409)
    const own = await browser.get('payments')
    assert.equal((await browser.look(`payments/${payment_id}`, own)).status, 404)
    assert.equal((await consoleOf(service()).look('payments', own)).status, 303)
    assert.equal((await browser.get('newer.json')).status, 404)
  })
})
