import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MESSAGES_COUNTED } from '../../../src/core/budgets.ts'
import { createNewId } from '../../../src/core/ids.ts'
import { HOUR } from '../../../src/core/time.ts'
import { insertRefund, refundsOf } from '../../../src/pay/refunds/store.ts'
import { insertMessages } from '../../../src/pay/webhooks/message-store.ts'
import { timelineOf } from '../../../src/tools/console/payments/timeline.ts'
import { deliveriesOf } from '../../../src/tools/lists/payments-store.ts'
import { messagesOfPayment } from '../../../src/tools/lists/webhooks-store.ts'
import type { Exchange } from '../../../src/tools/record/exchange.ts'
import { findExchanges, insertExchange } from '../../../src/tools/record/store.ts'
import { tagged } from '../../hosted/document.ts'
import type { Body } from '../../support/client.ts'
import { enter, stepsOf } from '../../support/console.ts'
import { cancelledPayment, paidPayment } from '../../support/journeys.ts'
import { startReceiver } from '../../support/receiver.ts'
import { samplePayment } from '../../support/sample-payment.ts'
import { onOneDatabase } from '../../support/service.ts'
import { answering, receiving, subscribe } from '../../support/subscriber.ts'

const ONE = { limit: 1, order: 'oldest' } as const

const newId = createNewId()
const now = Date.now()

const insertNamed = (exchange: Exchange) => insertExchange(exchange)(exchange.exchange_id)

function newMessages(length: number, { external_id: webhook_id }: Body, payment_id: string) {
  const event_type = 'card_payment_refunded'
  const same = { webhook_id, payment_id, event_type, body: '{}', sent_as: 'specification' } as const
  const messages = Array.from({ length }, (_, i) => ({
    ...same,
    message_id: newId(now + i),
    created: now + i,
  }))
  return insertMessages(messages, () => now + HOUR)
}

const options = { ...receiving, control: true }

// The length of the page does not depend on the database. Other tests read the record from every database.
onOneDatabase('The page of a payment with a long history', options, service => {
  test('a payment that was read a thousand times, and refused 320 times with 8 KiB on each side, has less than 400 KB, keeps the capture by time and the reads around it, begins with its first steps though one was slow, and says what it leaves out', async t => {
    const { api, name, browser } = await enter(service(), 'govuk-pay')
    await subscribe(t, api, { at: '/control/webhooks' })
    const { payment_id } = await paidPayment(api)
    await api.advance(5_000)
    const path = `payments/${payment_id}`
    await api.get(`/v1/${path}`)
    await browser.get(path)
    const { database } = service()
    const filter = { payment_id, operation: 'readPayment' }
    const [read] = await findExchanges(database, name, filter, ONE)
    assert.ok(read)
    const text = JSON.stringify({ x: 'a"b '.repeat(2_000) }).slice(0, 8_192)
    const posted = { ...read, operation: 'capturePayment', method: 'POST' }
    const bodies = { request_body: { text }, response_body: { text } }
    const refused = Array.from({ length: 320 }, (_, i) => ({
      ...posted,
      ...bodies,
      exchange_id: newId(read.began + 1),
      path: `/v1/payments/${i}/capture`,
      at: read.at + i + (i > 60 ? 6_000 : 0),
    }))
    const reads = Array.from({ length: 2_000 }, (_, i) => ({
      ...read,
      exchange_id: newId(read.began + 2),
      at: read.at + 7_000 + i,
      operation: i % 2 === 0 ? 'readPayment' : 'listPaymentEvents',
      path: `/v1/payments/x${i % 2 === 0 ? '' : '/events'}`,
    }))
    const slow = { ...posted, exchange_id: newId(read.began + 3), path: '/v1/slow' }
    await database.write([...refused, ...reads, slow].map(insertNamed))
    const refund = { payment_id, room: name, amount: 1, scenario: 'success' } as const
    const ids = Array.from({ length: 1_100 }, (_, i) => newId(read.at + 5_001 + i / 2))
    await database.write(ids.map(refund_id => insertRefund({ ...refund, refund_id })))
    const page = await browser.get(path)
    assert.ok(page.html.length < 400_000, `${page.html.length}`)
    const steps = stepsOf(page)
    assert.ok(steps.some(step => /\/x → .*and 999 more like it/.test(step)))
    const captured = steps.findIndex(step => step.includes('The capture, when it was due'))
    assert.match(steps[captured] ?? '', /due card_payment_captured → /)
    assert.doesNotMatch(steps.slice(0, captured).join(), /more like it/)
    assert.match(page.text, /card_payment_captured, [A-Z]+: /)
    const notShown = /\(1,230 more steps\) http.*Not shown: 1,231 steps between the first 49/
    assert.match(page.text, notShown)
    const { html } = await browser.get(`${path}/report.json`)
    assert.ok(html.length < 256 * 1024, `${html.length}`)
    const { exchanges, events, left_out } = JSON.parse(html)
    assert.ok(exchanges.length > 150 && exchanges.length + left_out.exchanges >= 2_326)
    assert.equal(events.length, 4)
  })

  test('a payment with 1,200 refunds has the first and the last of them, and the response to each refund is looked at a few times only', async () => {
    const { api, name, browser } = await enter(service())
    const { payment_id } = await paidPayment(api, { amount: 1_200 })
    await api.advance(1_000)
    await api.post(`/v1/payments/${payment_id}/refunds`, { amount: 1 })
    const path = `payments/${payment_id}`
    await browser.get(path)
    const { database } = service()
    const newest = { ...ONE, order: 'newest' } as const
    const [recorded] = await findExchanges(database, name, { payment_id }, newest)
    const [first] = await refundsOf(database, payment_id, 1)
    assert.ok(recorded?.response_body && first)
    const { text } = recorded.response_body
    const refunds = Array.from({ length: 1_200 }, (_, i) => ({
      ...first,
      refund_id: newId(recorded.at + i),
      status: 'success' as const,
    }))
    const exchanges = refunds.map(({ refund_id }, i) => ({
      ...recorded,
      exchange_id: newId(recorded.began + 1 + i),
      at: recorded.at + i,
      response_body: { text: text.replaceAll(first.refund_id, refund_id) },
    }))
    const sql = 'delete from exchanges where exchange_id = $1'
    await database.write([
      { sql, values: [recorded.exchange_id] },
      ...exchanges.map(insertNamed),
      ...refunds.slice(1).map(insertRefund),
    ])

    const page = await browser.get(path)
    assert.ok(page.html.length < 400_000, `${page.html.length}`)
    const named = stepsOf(page).flatMap(step => /refund of £0\.01, (\w{26})/.exec(step)?.[1] ?? [])
    const shown = refunds.slice(-150).map(({ refund_id }) => refund_id)
    assert.deepEqual(named.slice(-150), shown)
    assert.match(page.text, /Not shown 1,150 earlier refunds/)
    assert.equal(page.text.split('some seconds after success').length, 2)
    assert.match(
      page.text,
      /and 1,00\d more steps\).*Not shown: 1,00\d steps between the first 50/s,
    )
    const report = JSON.parse((await browser.get(`${path}/report.json`)).html)
    assert.ok(report.exchanges.length + report.left_out.exchanges >= 1_202)
    assert.equal(report.refunds.length + report.left_out.refunds, 1_200)
    let looks = 0
    const counted = exchanges.map(({ response_body, ...each }) => ({
      ...each,
      response_body: {
        get text() {
          looks += 1
          return response_body.text
        },
      },
    }))
    const rest = { folded: new Map(), messages: [], refundCount: 0, webhooks: [], recorded: 0 }
    const sample = samplePayment('success')
    const steps = timelineOf({ payment: sample, exchanges: counted, refunds, ...rest })
    assert.equal(steps.filter(step => step.refunds.length === 1).length, 1_200)
    assert.ok(looks <= 2_400, `${looks}`)
  })

  test('of a payment with more messages than are counted the list of payments says so, and looks at no others', async t => {
    const { api, browser } = await enter(service())
    const { webhook } = await subscribe(t, api)
    const { payment_id } = await cancelledPayment(api)
    const { database } = service()
    const find = () => deliveriesOf(database, [{ ...samplePayment('success'), payment_id }])
    const counted = async () =>
      [...(await find()).values()].flat().reduce((sum, { found }) => sum + found, 0)
    const page = async () => (await browser.get('payments')).text
    assert.match(await page(), /1 delivered(?!, and more)/)
    await database.write([newMessages(2 * MESSAGES_COUNTED, webhook, payment_id)])
    assert.equal(await counted(), MESSAGES_COUNTED + 1)
    assert.match(await page(), /and more/)
  })

  test('a payment about which each of 25 webhooks was sent 40 messages has less than 400 KB', async t => {
    const { api, browser } = await enter(service())
    const { payment_id } = await api.createPayment()
    const { database } = service()
    const { url, close } = await startReceiver()
    t.after(close)
    for (let i = 0; i < 25; i++) {
      const { body } = await api.post('/v1/webhooks', { callback_url: `${url}/${i}` })
      await database.write([newMessages(40, body, payment_id)])
    }
    const page = await browser.get(`payments/${payment_id}`)
    assert.ok(page.html.length < 400_000, `${page.html.length}`)
    assert.match(page.text, /Not shown: 3\d steps between the first 2 and the last 5\./)
    assert.match(page.text, /at least 20 earlier messages not shown/)
    const report = await browser.get(`payments/${payment_id}/report.json`)
    assert.equal(JSON.parse(report.html).left_out.messages, 'at least 900')
    assert.equal((await messagesOfPayment(database, payment_id)).length, 1_000)
  })

  test('its summary has at most 15 lines and says once why its messages failed, and the timeline once for each webhook, without a word about the responses that were not read', async t => {
    const { api, name, browser } = await enter(service())
    for (let i = 0; i < 2; i++)
      await subscribe(t, api, { behaviour: { onRequest: answering(401) } })
    const { payment_id } = await paidPayment(api, { reference: 'R-long' })
    for (let i = 0; i < 20; i++) {
      await api.advance(1_000)
      await api.post(`/v1/payments/${payment_id}/capture`)
    }
    await browser.get(`payments/${payment_id}`)
    const { database } = service()
    const [out] = await findExchanges(database, name, { payment_id, kinds: ['out'] }, ONE)
    assert.ok(out)
    const later = { ...out, message_id: null, at: out.at + HOUR }
    const ids = Array.from({ length: 1_000 }, (_, i) => newId(out.began + HOUR + i))
    await database.write(ids.map(exchange_id => insertNamed({ ...later, exchange_id })))
    const page = await browser.get(`payments/${payment_id}`)
    assert.doesNotMatch(page.text, /response not recorded/)
    const report = await browser.get(`payments/${payment_id}/report.json`)
    assert.ok(JSON.parse(report.html).exchanges.length > 150)
    const lines = page.elements.find(tagged('pre'))?.text.trim().split('\n') ?? []
    assert.equal(lines.length, 15)
    assert.match(lines[0] ?? '', /^R-long: £46\.50, success$/)
    assert.match(lines[5] ?? '', /^\(\d+ more lines\)$/)
    assert.equal(lines.filter(line => /Most often the signature/.test(line)).length, 1)
    assert.match(lines.at(-1) ?? '', /^http.*\/console\/payments\//)
    const steps = stepsOf(page).join()
    assert.equal(steps.split('card_payment_').length - 1, 4)
    assert.equal(steps.split('Most often the signature').length - 1, 2)
  })
})
