import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { classed, type Found, only, withId } from '../../hosted/document.ts'
import { hex } from '../../support/checking-receivers.ts'
import type { Body } from '../../support/client.ts'
import {
  byId,
  enter,
  headingOf,
  linkIn,
  rowsOf,
  type Shown,
  signIn,
} from '../../support/console.ts'
import { fillAccount } from '../../support/console-states.ts'
import { ask } from '../../support/control.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import type { Behaviour } from '../../support/receiver.ts'
import { onEveryDatabase, onOneDatabase } from '../../support/service.ts'
import { answering, history, receiving, subscribe } from '../../support/subscriber.ts'
import { holdAttempts } from '../../support/time.ts'

const MOMENT = 137
const DAY = 24 * 60 * 60 * 1000

const causeIn = (page: Shown): string => byId(page, 'cause').text

onEveryDatabase('The pages of webhooks and messages', receiving, service => {
  /** An account with something on every page. */
  const filled = async (t: TestContext) => {
    const api = await service().newAccount()
    holdAttempts(t)
    const shelf = await fillAccount(service(), api)
    t.after(shelf.close)
    return { api, ...shelf, browser: await signIn(service(), api) }
  }
  const messagePath = ({ webhook_message_id }: Body) => `messages/${webhook_message_id}`

  test('the list has a card for each webhook, and says what its receiver answered last; the page of one has its signing key folded, and its messages by delivery status', async t => {
    const { browser, archive, ledger } = await filled(t)
    const list = await browser.get('webhooks')
    assert.match(list.text, /Active webhooks \(3\).*Deactivated \(1\)/)
    assert.match(list.text, /Archive Callback URL.*Last response failed 401 Unauthorized, 2026/)
    assert.match(list.text, /Ledger feed Callback URL.*Events All Last response delivered 200 OK/)
    assert.equal(linkIn(list, 'Archive'), `webhooks/${archive.external_id}`)
    const page = await browser.get(`webhooks/${archive.external_id}`)
    assert.equal(headingOf(page), 'Archive')
    const secret = byId(page, 'signing-key')
    assert.equal(secret.attributes.open, undefined)
    assert.ok(secret.text.includes(archive.signing_key))
    assert.equal(rowsOf(page).length, 2)
    assert.match(page.text, /failed The receiver answered 401 Unauthorized/)
    for (const [delivery, webhook, count] of [
      ['FAILED', archive, 2],
      ['SUCCESSFUL', ledger, 3],
      ['PENDING', ledger, 0],
    ] as const) {
      const filtered = await browser.get(`webhooks/${webhook.external_id}?delivery=${delivery}`)
      assert.equal(rowsOf(filtered).length, count, delivery)
      assert.equal(/no results for the filters you used\./.test(filtered.text), count === 0)
    }
  })

  test('a message says at the top why it failed, and below what was sent and answered each time', async t => {
    const { browser, failed, delivered, archive } = await filled(t)
    const page = await browser.get(messagePath(failed[0]))
    assert.equal(
      causeIn(page),
      'The receiver answered 401 Unauthorized: {"error":"bad signature"}. Most often the signature does not match there: compare the signatures.',
    )
    assert.equal(page.text.split('Most often the signature').length, 3, 'once for each attempt')
    const sent = JSON.stringify(failed[0].body)
    const isBody = ({ attributes }: Found) => attributes['aria-label'] === 'Body as it is sent'
    assert.equal(only(page.elements, isBody).text, sent)
    const parts = page.text.split(hex(sent, archive.signing_key))
    assert.equal(parts.length, 3, 'the signature of both attempts')
    assert.match(page.text, /"error": "bad signature"/)
    const accepted = await browser.get(messagePath(delivered[0]))
    assert.equal(causeIn(accepted), 'Delivered: the receiver answered 200 OK.')
    await service().database.write([{ sql: 'delete from exchanges', values: [] }])
    const forgotten = await browser.get(messagePath(failed[0]))
    assert.match(causeIn(forgotten), /^The receiver answered 401 Unauthorized\. Most often/)
    assert.equal(rowsOf(forgotten).length, 2)
    assert.match(forgotten.text, /not recorded, or are older than 24 hours/)
  })

  test('a message of a webhook that was deactivated, or of a payment that is gone, which has no page, cannot be sent again', async t => {
    const { api, browser, unsendable, failed, receivers } = await filled(t)
    const inactive = await browser.get(messagePath(unsendable))
    assert.match(inactive.text, /cannot be sent again: the webhook of this message is INACTIVE/)
    const count = () => receivers.reduce((sum, { requests }) => sum + requests.length, 0)
    const before = count()
    const refused = await browser.post(`${messagePath(unsendable)}/send`)
    assert.deepEqual([refused.location, refused.done], [messagePath(unsendable), 'not-sent'])
    service().clock.advance(7 * DAY)
    const later = await signIn(service(), api)
    const gone = await later.get(messagePath(failed[0]))
    assert.match(gone.text, /cannot be sent again: the payment of this message is gone/)
    assert.match(gone.text, /It was deleted with the payment\./)
    assert.ok(!gone.html.includes(failed[0].body.resource.description))
    assert.equal((await later.post(`${messagePath(failed[0])}/send`)).done, 'not-sent')
    assert.equal((await later.get(`payments/${failed[0].body.resource_id}`)).status, 404)
    assert.equal(count(), before)
  })

  test('a message that failed without an attempt was never sent, and its page says why', async t => {
    const { api, browser, unsendable } = await filled(t)
    const sql = `update webhook_messages set status = 'FAILED', attempts = '[]' where message_id = $1`
    await service().database.write([
      { sql, values: [unsendable.webhook_message_id] },
      { sql: 'delete from exchanges', values: [] },
    ])
    const page = await browser.get(messagePath(unsendable))
    assert.equal(causeIn(page), 'It was never sent: its webhook was deactivated before.')
    assert.match(page.text, /Delivery attempts It was never sent\./)
    service().clock.advance(7 * DAY)
    const later = await (await signIn(service(), api)).get(messagePath(unsendable))
    assert.equal(causeIn(later), 'It was never sent: its payment was gone before.')
  })

  test('a send by hand and the delivery are one story, and a wrong signature that is accepted is red everywhere', async t => {
    const { browser, failed, delivered } = await filled(t)
    const [refusing, accepting] = [messagePath(failed[0]), messagePath(delivered[0])]
    const send = async (path: string, fields: Record<string, string> = {}) => {
      const { status, done } = await browser.post(`${path}/send`, fields)
      assert.deepEqual([status, done], [303, undefined])
      service().clock.advance(MOMENT)
      return browser.get(path)
    }
    assert.match(
      causeIn(await send(refusing)),
      /^Sent again at \d\d:\d\d: 401 Unauthorized\. The receiver answered 401 .*\. The two attempts of the delivery failed\.$/,
    )
    const again = /^Sent again at \d\d:\d\d: 200 OK\. The delivery succeeded\.$/
    assert.match(causeIn(await send(accepting)), again)
    const accepted = await send(accepting, { damage: 'digit' })
    const { inside } = byId(accepted, 'answer-to-wrong')
    assert.ok(inside.some(classed('govuk-tag--red')))
    const said =
      /Damaged: one digit of the signature changed.*: 200 OK\. Your receiver accepted a message whose signature is wrong\. Before you/
    assert.match(causeIn(accepted), said)
    assert.match(accepted.text, /accepted, signature wrong Damaged: one digit of the signature/)
    const refused = await send(refusing, { damage: 'space' })
    assert.match(
      causeIn(refused),
      /^Damaged: .* at .*: 401 Unauthorized\. It refuses the undamaged message too, so this says nothing\. Mend that first\. The two attempts/,
    )
    assert.equal(refused.elements.filter(withId('answer-to-wrong')).length, 0, 'no verdict')
    assert.equal((await browser.post(`${accepting}/send`, { damage: 'x' })).status, 400)
    const page = await browser.get(`payments/${delivered[0].body.resource_id}`)
    assert.match(page.text, /Your receiver accepted a message whose signature is wrong/)
  })

  test('a failed message that its receiver accepted by hand is told alike on every page, and lists notice it', async t => {
    const { api, browser } = await filled(t)
    let status = 500
    const behaviour: Behaviour = { onRequest: answer => answering(status)(answer) }
    const { webhook } = await subscribe(t, api, { behaviour })
    service().clock.advance(MOMENT)
    const { payment_id } = await cancelledPayment(api, { reference: 'R-again' })
    const [message = {}] = await history(api, webhook)
    const [payment, own] = [`payments/${payment_id}`, messagePath(message)]
    const lists = ['payments?q=R-again', `webhooks/${webhook.external_id}`, 'webhooks'] as const
    const before = await Promise.all(lists.map(list => browser.get(list)))
    assert.match(before[0]?.text ?? '', /1 failed, \d delivered/)
    status = 200
    service().clock.advance(MOMENT)
    for (const how of [{ damage: 'digit' }, { body: '{}' }])
      assert.equal((await ask(service(), api, `${own}/send`, how)).status, 200)
    const looks = async (expected: number) => {
      for (const [i, page] of before.entries())
        assert.equal((await browser.look(lists[i]!, page)).status, expected, `${i}`)
    }
    await looks(304) // neither of the two delivers the message
    service().clock.advance(MOMENT)
    await browser.post(`${own}/send`)
    await looks(200)
    for (const [path, says] of [
      [lists[0], /1 failed, accepted since, \d delivered/],
      [lists[1], /failed, accepted since Sent again at \d\d:\d\d: 200 OK\./],
      [lists[2], /Sent again at \d\d:\d\d: 200 OK\./],
      [payment, /Sent again at \d\d:\d\d: 200 OK\./],
      [
        own,
        /card_payment_cancelled failed, accepted since .*Sent again at \d\d:\d\d: 200 OK\. The two attempts of the delivery failed/,
      ],
    ] as const)
      assert.match((await browser.get(path)).text, says)
    assert.ok(!(await browser.get(lists[0])).html.includes('farthing-failed'))
    const [day] = new Date(service().clock.now()).toISOString().split('T')
    service().clock.advance(20 * 3_600_000)
    const tomorrow = await (await signIn(service(), api)).get(payment)
    const withDay = new RegExp(`Sent again at ${day} \\d\\d:\\d\\d: 200 OK`)
    assert.match(tomorrow.text, withDay, 'a time of another day has its day')
  })
})

/** A browser finds this sentence behind the first failure in the list of payments. Tests above refuse a signature. */
const faults: Record<string, [behaviour: Behaviour, sentence: RegExp]> = {
  'nothing listens': [{ refuses: true }, /ECONNREFUSED.*is the receiver running/],
  'the name has no address': [{}, /host name of the callback URL has no address/],
  'the certificate has expired': [
    { certificate: 'expired' },
    /certificate of the receiver was not accepted \(CERT_HAS_EXPIRED\): it has expired/,
  ],
  'it hangs': [{ onRequest: () => {}, hangs: true }, /did not answer within 2 seconds/],
  'it redirects': [{ onRequest: answering(301) }, /3xx counts as failed: register the address/],
  'the path is wrong': [{ onRequest: answering(404) }, /Is the path of the callback URL right/],
  'it fails with a stack': [
    { onRequest: ({ response }) => response.writeHead(500).end('TypeError: x is null\n    at y') },
    /500 Internal Server Error: TypeError: x is null\. The receiver has a fault/,
  ],
}

let known = true
const resolve = async () => (known ? ['127.0.0.1'] : [])

onOneDatabase('A broken receiver', { ...receiving, resolve }, service => {
  for (const [name, [behaviour, sentence]] of Object.entries(faults))
    test(`is explained on the page behind the first failure in the list of payments: ${name}`, async t => {
      const { api, browser } = await enter(service())
      await subscribe(t, api, { behaviour })
      known = name !== 'the name has no address'
      await cancelledPayment(api)
      known = true
      const { elements } = await browser.get('payments')
      const red = elements.find(classed('farthing-failed'))
      assert.match((await browser.get(red?.attributes.href ?? '')).text, sentence)
    })
})
