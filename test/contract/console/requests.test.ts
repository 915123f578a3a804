import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RECORDED_BODY_BYTES } from '../../../src/core/budgets.ts'
import { createNewId } from '../../../src/core/ids.ts'
import { orderNote } from '../../../src/tools/console/frame/exchange.ts'
import type { Exchange } from '../../../src/tools/record/exchange.ts'
import { makeGapRow } from '../../../src/tools/record/row.ts'
import { findExchanges, insertExchange } from '../../../src/tools/record/store.ts'
import { tagged } from '../../hosted/document.ts'
import type { Body } from '../../support/client.ts'
import { byId, enter, headingOf, linkIn, rowsOf, type Shown } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { onEveryDatabase, onOneDatabase } from '../../support/service.ts'

const newId = createNewId()

const secondOf = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')

const LIST = 'Requests, newest first'

test('the order is uncertain where two instances took part within a second, and not after a restart', () => {
  const exchange = (instance: string, began: number) => ({ instance, began }) as Exchange
  const a = exchange('a', 10_000)
  assert.ok(!orderNote([exchange('a', 10_001), a]))
  assert.ok(orderNote([exchange('b', 11_000), a]))
  assert.ok(!orderNote([exchange('b', 11_001), a]))
})

onEveryDatabase('The pages of requests', service => {
  test('a request whose row is damaged breaks no page and hides no other request', async () => {
    const { api, name, browser } = await enter(service())
    const { payment_id } = await api.createPayment()
    await api.get(`/v1/payments/${payment_id}`)
    await browser.get('requests')
    const wanted = { operation: 'createPayment' }
    const first = { limit: 1, order: 'oldest' } as const
    const [created] = await findExchanges(service().database, name, wanted, first)
    const sql = `update exchanges set body = substr(body, 1, 20) where exchange_id = $1`
    await service().database.write([{ sql, values: [created?.exchange_id ?? ''] }])
    for (const path of ['', 'check', 'requests?text=PITCH', 'requests?show=refused'])
      assert.equal((await browser.get(path)).status, 200, path)
    const page = await browser.get(`payments/${payment_id}`)
    assert.match(page.text, /^(?!.*POST +→).*Request not recorded/s)
    const { text } = await browser.get('requests')
    assert.match(text, /1 request between .+ was not kept: the record is damaged/)
    assert.match(text, new RegExp(`GET /v1/payments/${payment_id}`))
    assert.equal((await browser.get(`requests/${created?.exchange_id}`)).status, 404)
    const [left, ...more] = (await ask(service(), api, 'requests')).body.results
    assert.deepEqual([left.operation, more], ['readPayment', []])
  })

  test('requests are found by the class of their status, their payment, a text in address or body, and time', async () => {
    const { api, browser } = await enter(service())
    const description = '50%_\\ "off" in the Hauptstraße'
    const { payment_id } = await api.createPayment({ reference: 'Stall 9 È', description })
    service().clock.advance(10)
    await api.get(`/v1/payments/${payment_id}/events?x=Needle-1`)
    await api.get('/v1/payments/unknown')
    await api.post('/v1/nothing')
    const find = async (query: Record<string, string>) => {
      const page = await browser.get(`requests?${new URLSearchParams(query)}`)
      assert.equal(page.status, 200)
      const rows = rowsOf(page, LIST)
      const nothing = /no results .* Searched: .* among the requests that are kept/
      assert.equal(nothing.test(page.text), rows.length === 0)
      return rows
        .map(([, request = '']) => request.replace(payment_id, 'ID').replace(/^(\w+) .*?v1/, '$1'))
        .toSorted()
    }
    const [created, events] = ['POST/payments', 'GET/payments/ID/events?x=Needle-1']
    const [unknown, nothing] = ['GET/payments/unknown', 'POST/nothing']
    for (const [query, requests] of [
      [{ show: '2xx' }, [events, created]],
      [{ show: '4xx' }, [unknown, nothing]],
      [{ show: 'refused' }, [unknown, nothing]],
      [{ show: '5xx' }, []],
      [{ payment: payment_id.toUpperCase() }, [events, created]],
      [{ payment: 'stall 9 è' }, [events, created]],
      [{ payment: 'stall 9' }, []],
      [{ text: 'needle' }, [events]],
      [{ text: 'STALL 9 È' }, [created]],
      [{ text: '50%_\\\\ \\"off\\"' }, [created]],
      [{ text: 'HAUPTSTRASSE' }, [created]],
      [{ text: '50%__' }, []],
      [{ text: 'application/json' }, []],
      [{ text: 'payment', show: '4xx' }, [unknown]],
      [{ text: 'payment', operation: 'createPayment', last: '5' }, [created]],
    ] as const)
      assert.deepEqual(await find(query), requests.toSorted(), JSON.stringify(query))
    const long = await browser.get(`requests?from=${'1'.repeat(14_000)}`)
    assert.match(byId(long, 'from-error').text, /Enter at most 1,000 characters/)
    for (const { attributes } of long.elements)
      assert.ok((attributes.href ?? '').length < 1_200, 'each row has a link with the filters')
    service().clock.advance(5 * 60_000 + 1)
    assert.deepEqual(await find({ last: '5' }), [])
    const all = await find({})
    const now = secondOf(service().clock.now()).slice(0, 16)
    assert.deepEqual(await find({ from: now }), [])
    assert.deepEqual(await find({ from: '2026-09-14', to: now.slice(11) }), all)
    assert.deepEqual(await find({ to: '2026-09-13' }), [])
    assert.equal((await browser.get('requests?from=noon')).status, 400)
    assert.equal((await browser.get('requests?text=%00&payment=%ff&last=9')).status, 200)
  })

  // payments.test.ts tests the way back, and control/following.test.ts both directions of the record.
  test('the list goes on on the next page, without a request twice, and says where the record begins', async () => {
    const { api, browser } = await enter(service())
    for (let i = 0; i < 51; i++) {
      service().clock.advance(1)
      await api.get(`/v1/payments?display_size=${i + 1}`)
    }
    const paths = (page: Shown) => rowsOf(page, LIST).map(([, request]) => request)
    const first = await browser.get('requests')
    const second = await browser.get(linkIn(first, 'Older'))
    const none = await browser.get('requests?text=nowhere')
    for (const { text } of [first, second, none]) {
      const [, begins = ''] = /The record of this account begins at ([^.]+)\./.exec(text) ?? []
      assert.ok(rowsOf(second, LIST).some(([time]) => time === begins.slice(11, 19)))
    }
    // Two instances write in turn, so the first request of a page may have begun before the last of the page before.
    assert.deepEqual(
      [first, second].flatMap(paths).toSorted(),
      Array.from({ length: 51 }, (_, i) => `GET /v1/payments?display_size=${i + 1}`).toSorted(),
    )
  })

  test('requests that were only counted appear as one grey row, in their place', async () => {
    const { api, name, browser } = await enter(service())
    await api.get('/v1/payments')
    const from = service().clock.now() + 1_000
    const gaps = (['account', 'instance', 'instance'] as const).map((bound, i) => {
      const began = from + i * 1_000
      const gap = { count: 4_000, refused: i, from: began, to: began + 999, bounds: [bound] }
      return insertExchange(makeGapRow(name, gap))(newId(began))
    })
    await service().database.write(gaps)
    service().clock.advance(10_000)
    await api.get('/v1/refunds')
    const rows = rowsOf(await browser.get('requests'), LIST)
    assert.equal(rows.length, 3)
    const [first, last] = [secondOf(from), secondOf(from + 2_999)]
    assert.deepEqual(rows[1], [
      `12,000 requests between ${first} and ${last} were not kept, 3 of them refused: more than 100 a second of this account, or 20 refusals; more than 400 a second of all accounts, or 200 refusals`,
    ])
    assert.equal(rowsOf(await browser.get('requests?operation=searchRefunds'), LIST).length, 1)
  })

  test('a request shows both sides, what it caused, and the command that repeats it', async () => {
    const { api, browser } = await enter(service())
    const payment = await api.createPayment(
      { reference: 'R-7', description: 'Crème' },
      { 'Idempotency-Key': 'once', 'User-Agent': 'shop/1' },
    )
    service().clock.advance(10)
    await api.post(`/v1/payments/${payment.payment_id}/cancel`)
    const list = await browser.get('requests')
    const created = await browser.get(linkIn(list, 'POST /v1/payments'))
    assert.equal(headingOf(created), 'POST /v1/payments')
    for (const parts of [
      /Status 201.*Payment R-7.*user-agent: shop\/1 idempotency-key: once.*"description": "Crème"/,
      /location: http.*What it caused The payment became created/,
      /# The Idempotency-Key is used up.*-H "Authorization: Bearer \$FARTHING_API_KEY"/,
    ])
      assert.match(created.text, parts)
    const cancel = await browser.get(linkIn(list, `POST /v1/payments/${payment.payment_id}/cancel`))
    assert.match(cancel.text, /The payment became cancelled P0040/)
  })

  test('a search shows the parameters that it does not know and ignored', async () => {
    const { api, browser } = await enter(service())
    await api.get('/v1/payments?referense=x&display_size=5')
    const { text } = await browser.get(linkIn(await browser.get('requests'), /referense/))
    assert.match(text, /not know referense, so it ignored it\. It knows state, reference, email, /)
    service().clock.advance(10)
    await api.get('/v1/payments?reference=x')
    const plain = linkIn(await browser.get('requests'), 'GET /v1/payments?reference=x')
    assert.doesNotMatch((await browser.get(plain)).text, /ignored/)
  })
})

onOneDatabase('What a page of requests says', service => {
  test('a body that was cut says so, and has no command', async () => {
    const { api, browser } = await enter(service())
    await api.post('/v1/payments', { description: 'x'.repeat(RECORDED_BODY_BYTES) })
    const { text } = await browser.get(linkIn(await browser.get('requests'), 'POST /v1/payments'))
    assert.match(text, /The body has 8,210 bytes\. At most the first 8 KiB are kept\./)
    assert.match(text, /no command for this request\. Only the beginning of the body is kept\./)
  })

  test('the filter offers every operation of the description, and keeps what only a link can set', async () => {
    const { body } = await service().anonymous.get('/openapi.json')
    const recorded = Object.entries<Body>(body.paths)
      .filter(([path]) => /^\/(v1|secure)/.test(path))
      .flatMap(([, methods]) => Object.values<Body>(methods).map(each => each.operationId))
      .filter(Boolean)
    const { browser } = await enter(service())
    const page = await browser.get('requests?show=refused&code=P0102')
    const select = byId(page, 'operation')
    const offered = select.inside.filter(tagged('option')).map(({ attributes }) => attributes.value)
    assert.deepEqual(offered.sort(), ['', ...recorded, 'methodNotAllowed', 'noSuchEndpoint'].sort())
    const code = page.elements.find(({ attributes }) => attributes.name === 'code')
    assert.deepEqual([code?.attributes.type, code?.attributes.value], ['hidden', 'P0102'])
  })

  test('a request to a hosted page names its browser, or the program that made it', async () => {
    const { api, browser } = await enter(service())
    const { _links } = await api.createPayment()
    for (const agent of ['Mozilla/5.0 (X11)', 'curl/8.5.0', 'farthing/0.1.0 <b>'])
      await api.get(_links.next_url.href, { 'User-Agent': agent })
    const { text } = await browser.get('requests')
    for (const name of ['browser', 'curl/8.5.0', 'farthing/0.1.0 <b>'])
      assert.ok(text.includes(` (${name})`), name)
  })
})
