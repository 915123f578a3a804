import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { tagged, withId } from '../../hosted/document.ts'
import { hex } from '../../support/checking-receivers.ts'
import type { Body } from '../../support/client.ts'
import { elementWith, headingOf, rowsOf, type Shown, signIn } from '../../support/console.ts'
import { fillAccount } from '../../support/console-states.ts'
import { ask } from '../../support/control.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import type { Answer } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { history, receiving, subscribe } from '../../support/subscriber.ts'
import { holdAttempts } from '../../support/time.ts'

const MOMENT = 137
const DAY = 24 * 60 * 60 * 1000

const causeIn = (page: Shown): string => elementWith(page, 'cause').text

onEveryDatabase('The pages of webhooks and messages', receiving, service => {
  /** An account with something on every page, which the test closes. */
  const filled = async (t: TestContext) => {
    const api = await service().newAccount()
    holdAttempts(t)
    const shelf = await fillAccount(service(), api)
    t.after(shelf.close)
    return { api, ...shelf, browser: await signIn(service(), api) }
  }
  const messagePath = ({ webhook_message_id }: Body) => `messages/${webhook_message_id}`

  test('the list has a card for each webhook, and says what its receiver answered last', async t => {
    const { browser, ledger, archive } = await filled(t)
    const { text, elements } = await browser.get('webhooks')
    assert.match(text, /Active webhooks \(3\).*Deactivated \(1\)/)
    assert.match(text, /Archive Callback URL.*Last response failed 401 Unauthorized, 2026/)
    assert.match(text, /Ledger feed Callback URL.*Events All Last response delivered 200 OK/)
    const names = elements.filter(tagged('h3')).map(({ inside }) => inside.find(tagged('a')))
    assert.ok(
      names.some(
        name =>
          name?.text === 'Archive' && name.attributes.href === `webhooks/${archive.external_id}`,
      ),
    )
    assert.ok(!JSON.stringify(elements).includes(ledger.signing_key))
  })

  test('a webhook has its signing key folded, and its messages by delivery status', async t => {
    const { browser, archive, ledger } = await filled(t)
    const page = await browser.get(`webhooks/${archive.external_id}`)
    assert.equal(headingOf(page), 'Archive')
    const secret = elementWith(page, 'signing-key')
    assert.equal(secret.attributes.open, undefined)
    assert.ok(secret.text.includes(archive.signing_key))
    assert.equal(rowsOf(page).length, 2)
    assert.match(page.text, /failed The receiver answered 401 Unauthorized/)
    const none = await browser.get(`webhooks/${archive.external_id}?delivery=SUCCESSFUL`)
    assert.match(none.text, /There are no results for the filters you used\./)
    for (const [delivery, webhook, count] of [
      ['FAILED', archive, 2],
      ['SUCCESSFUL', ledger, 3],
      ['PENDING', ledger, 0],
    ] as const) {
      const filtered = await browser.get(`webhooks/${webhook.external_id}?delivery=${delivery}`)
      assert.equal(rowsOf(filtered).length, count, delivery)
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
    const [body] = page.elements.filter(
      each => each.attributes['aria-label'] === 'Body as it is sent',
    )
    assert.equal(body?.text, JSON.stringify(failed[0].body))
    const signature = hex(JSON.stringify(failed[0].body), archive.signing_key)
    assert.equal(page.text.split(signature).length - 1, 2, 'the signature of both attempts')
    assert.match(page.text, /"error": "bad signature"/)
    assert.equal(
      causeIn(await browser.get(messagePath(delivered[0]))),
      'Delivered: the receiver answered 200 OK.',
    )
    await service().database.write([{ sql: 'delete from exchanges', values: [] }])
    const forgotten = await browser.get(messagePath(failed[0]))
    assert.match(causeIn(forgotten), /^The receiver answered 401 Unauthorized\. Most often/)
    assert.equal(rowsOf(forgotten).length, 2)
    assert.match(forgotten.text, /not recorded, or are older than 24 hours/)
  })

  test('a message of a webhook that was deactivated, or of a payment that is gone, cannot be sent again', async t => {
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
    assert.equal(count(), before)
  })

  test('a message that failed without an attempt was never sent, and its page says why', async t => {
    const { api, browser, unsendable } = await filled(t)
    await service().database.write([
      {
        sql: `update webhook_messages set status = 'FAILED', attempts = '[]' where message_id = $1`,
        values: [unsendable.webhook_message_id],
      },
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
    assert.match(
      causeIn(await send(accepting)),
      /^Sent again at \d\d:\d\d: 200 OK\. The delivery succeeded\.$/,
    )
    for (const [fields, name] of [
      [{ damage: 'digit' }, 'Damaged: one digit of the signature changed'],
      [{ damage: 'missing' }, 'Damaged: without the signature'],
    ] as const) {
      const accepted = await send(accepting, fields)
      const { inside } = elementWith(accepted, 'answer-to-wrong')
      assert.equal(inside.find(tagged('strong'))?.attributes.class, 'govuk-tag govuk-tag--red')
      const said = `: 200 OK. Your receiver accepted a message whose signature is wrong. Before you use`
      assert.ok(causeIn(accepted).includes(said), causeIn(accepted))
      assert.ok(causeIn(accepted).includes(name))
      assert.ok(accepted.text.includes(`ACCEPTED, SIGNATURE WRONG ${name}`))
    }
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
    const onRequest = ({ response }: Answer) => response.writeHead(status).end()
    const { webhook } = await subscribe(t, api, { behaviour: { onRequest } })
    service().clock.advance(MOMENT)
    const { payment_id } = await cancelledPayment(api, { reference: 'R-again' })
    const path = `payments/${payment_id}`
    const [message] = await history(api, webhook)
    const id = message?.webhook_message_id
    const lists = ['payments?q=R-again', `webhooks/${webhook.external_id}`, 'webhooks']
    const look = () => Promise.all(lists.map(list => browser.get(list)))
    const before = await look()
    assert.match(before[0]?.text ?? '', /1 failed, \d delivered/)
    status = 200
    service().clock.advance(MOMENT)
    for (const how of [{ damage: 'digit' }, { body: '{}' }])
      assert.equal((await ask(service(), api, `messages/${id}/send`, how)).status, 200)
    const changed = () =>
      Promise.all(
        before.map(async (page, i) => (await browser.look(lists[i] ?? '', page)).status === 200),
      )
    assert.deepEqual(await changed(), [false, false, false], 'none of these delivers it')
    service().clock.advance(MOMENT)
    await browser.post(`messages/${id}/send`)
    const after = await look()
    assert.deepEqual(await changed(), [true, true, true])
    const again = /Sent again at \d\d:\d\d: 200 OK\./
    assert.match(after[0]?.text ?? '', /1 failed, accepted since, \d delivered/)
    assert.ok(!after[0]?.html.includes('farthing-failed'))
    assert.match(after[1]?.text ?? '', /failed, accepted since Sent again .*: 200 OK\./)
    assert.match(
      (await browser.get(`messages/${id}`)).text,
      /card_payment_cancelled failed, accepted since .*Sent again at .*: 200 OK\. The two attempts of the delivery failed/,
    )
    for (const page of [
      after[1],
      after[2],
      await browser.get(path),
      await browser.get(`messages/${id}`),
    ])
      assert.match(page?.text ?? '', again)
    const [day] = new Date(service().clock.now()).toISOString().split('T')
    service().clock.advance(20 * 3_600_000)
    const tomorrow = await signIn(service(), api)
    assert.match(
      (await tomorrow.get(path)).text,
      new RegExp(`Sent again at ${day} \\d\\d:\\d\\d: 200 OK`),
      'a time of another day has its day',
    )
  })
})
