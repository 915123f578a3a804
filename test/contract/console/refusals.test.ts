import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webPayment } from '../../support/client.ts'
import { enter, linkIn, rowsOf, type Shown } from '../../support/console.ts'
import { pageOf } from '../../support/hosted-page.ts'
import { flush } from '../../support/record.ts'
import { onEveryDatabase } from '../../support/service.ts'

const LIST = 'Requests, newest first'
const UNKNOWN = 'this account has no payment of the last 7 days with the payment_id in the path'
const NO_URL = 'return_url must be an absolute URL with a host (you sent "no")'
const GROUPS = 'Refused requests of the last 24 hours that are alike'

const hrefsIn = ({ elements }: Shown) => elements.map(({ attributes }) => attributes.href ?? '')

onEveryDatabase('Refused requests in the console', { control: true }, service => {
  // Instances write in turn, and groups are in the order of their newest row.
  const pass = async () => {
    await flush(service())
    service().clock.advance(10)
  }

  test('the list groups refusals that are alike before all requests, and each group leads to its requests', async () => {
    const { api, browser } = await enter(service())
    await api.postForm(pageOf(await api.createPayment()), {})
    await pass()
    for (const refused of [{ return_url: 'no' }, { return_url: 'no' }, { amount: undefined }]) {
      await api.post('/v1/payments', { ...webPayment, ...refused })
      await pass()
    }
    await api.get('/v1/payments/unknown')
    await pass()
    await api.get('/v1/payments')
    const page = await browser.get('requests')
    assert.deepEqual(
      rowsOf(page, GROUPS).map(cells => cells.toSpliced(4, 1)),
      [
        ['Read a payment', 'P0200', '', '1', UNKNOWN],
        ['Create a payment', 'P0101', 'amount', '1', 'amount is required'],
        ['Create a payment', 'P0102', 'return_url', '2', NO_URL],
        ['Choose how the payment ends', '400', '', '1', 'Select how this payment should end'],
      ],
    )
    assert.deepEqual(
      rowsOf(page, LIST)
        .slice(0, -2)
        .map(([, ...cells]) => cells.slice(0, 2).join()),
      [
        'GET /v1/payments,200',
        `GET /v1/payments/unknown,404 P0200 ${UNKNOWN}`,
        'POST /v1/payments,400 P0101 amount is required',
        `POST /v1/payments,422 P0102 ${NO_URL}`,
        `POST /v1/payments,422 P0102 ${NO_URL}`,
      ],
    )
    const group = hrefsIn(page).find(href => /field=return_url/.test(href))
    const shown = await browser.get(group ?? '')
    assert.equal(rowsOf(shown, LIST).length, 2)
    assert.match(shown.text, /Refused \(4xx and 5xx\), Create a payment, P0102, about return_url/)
    assert.equal(linkIn(page, 'Only refused'), 'requests?show=refused')
    const refused = await browser.get('requests?show=refused&operation=readPayment')
    assert.equal(rowsOf(refused, LIST).length, 1)
    const nothing = await browser.get('requests?operation=refundPayment')
    assert.match(nothing.text, /There are no results for the filters you used\./)
    assert.doesNotMatch(nothing.text, /The field for/)
    assert.equal(linkIn(nothing, 'Clear filters'), 'requests')
    for (const query of ['show=x&operation=%00', 'before=%ff', 'after=zzz', 'show=refused&show=x'])
      assert.equal((await browser.get(`requests?${query}`)).status, 200, query)
  })

  test('a group has one sentence, whatever the values in it, and leads to as many requests as it counts', async () => {
    const { api, browser } = await enter(service())
    const opened = pageOf(await api.createPayment())
    const long = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`field-${i}`, '']))
    for (const form of [{}, long]) {
      await pass()
      await api.postForm(opened, form)
    }
    for (const amount of [-1, 10_000_001, -2]) {
      await pass()
      await api.post('/v1/payments', { ...webPayment, amount })
    }
    const unknown = ['/v1/v1/payments', '/payments']
    for (const path of [...unknown, '/v1/payments?page=7', '/v1/payments?page=8']) {
      await pass()
      await api.get(path)
    }
    await api.post('/control/plans', { on: 'createPayment', reset: true, when: 'after' })
    await pass()
    await assert.rejects(api.createPayment())
    const page = await browser.get('requests')
    const rows = rowsOf(page, GROUPS)
    const [lost, , , , least, most] = rows.map(cells => cells.at(-1))
    assert.equal(lost, 'a plan ended the connection after the request had taken effect')
    const kinds = rows.map(([, code, field, found]) => [code, field, found].join()).join(' ')
    const ofApi = 'no response,,1 P0402,,2 P0911,,1 P0911,,1 P0102,amount,2 P0102,amount,1'
    assert.equal(kinds, `${ofApi} 422,,1 400,,1`)
    assert.equal(least, 'amount must be at least 0 (you sent -2)')
    assert.equal(most, 'amount must be at most 10000000 (you sent 10000001)')
    const groups = hrefsIn(page).filter(href => /told=/.test(href))
    for (const [i, [, , , found]] of rows.entries()) {
      const href = groups[i] ?? ''
      assert.equal(`${rowsOf(await browser.get(href), LIST).length}`, found, href)
    }
  })
})
