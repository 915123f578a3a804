import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tagged } from '../../hosted/document.ts'
import type { Body } from '../../support/client.ts'
import { enter, linkIn } from '../../support/console.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('The picture of a payment', service => {
  test('the picture has the states that were, the present one and those that are possible, with the buttons that lead there', async () => {
    const { api, browser } = await enter(service())
    const picture = async (payment: Body, back = '') => {
      const page = await browser.get(`payments/${payment.payment_id}${back}`)
      const states = page.elements.filter(each =>
        each.attributes.class?.startsWith('farthing-state '),
      )
      const shown = states.map(({ attributes, text }) => {
        const [name = ''] =
          /^(created|started|submitted|capturable|success|failed|error|cancelled)/.exec(text) ?? []
        const isNow = attributes['aria-current'] === 'step'
        return [name, isNow ? 'now' : text.includes('not yet') ? 'next' : 'past']
      })
      const actions = page.elements.find(each => each.attributes.class === 'farthing-actions')
      const buttons = (actions?.inside ?? []).filter(tagged('button'))
      return [shown, buttons.map(({ attributes }) => attributes.id)]
    }
    const delayed = await api.createPayment({ delayed_capture: true })
    const open = [
      ['created', 'now'],
      ['started', 'next'],
      ['submitted', 'next'],
      ['capturable', 'next'],
      ['success', 'next'],
    ]
    const ends = ['choose-success', 'choose-declined', 'choose-error', 'choose-cancel', 'cancel']
    assert.deepEqual(await picture(delayed), [open, ends])
    await browser.post(`payments/${delayed.payment_id}/complete`, { scenario: 'success' })
    const past = [
      ['created', 'past'],
      ['started', 'past'],
      ['submitted', 'past'],
    ]
    assert.deepEqual(await picture(delayed), [
      [...past, ['capturable', 'now'], ['success', 'next']],
      ['capture', 'cancel'],
    ])
    const paid = await api.createPayment({ reference: 'R-pic' })
    await browser.post(`payments/${paid.payment_id}/complete`, { scenario: 'success' })
    assert.deepEqual(await picture(paid), [[...past, ['success', 'now']], ['refund']])
    const line = async () => {
      const { elements } = await browser.get(`payments/${paid.payment_id}`)
      const list = elements.find(({ attributes }) => attributes.class === 'farthing-states')
      return (list?.inside ?? []).filter(tagged('li')).map(({ text }) => text)
    }
    assert.equal((await line()).length, 4)
    for (const amount of ['5.50', '4'])
      await browser.post(`payments/${paid.payment_id}/refund`, { amount })
    const { body } = await api.get(`/v1/payments/${paid.payment_id}/refunds`)
    const [state, refunded = '', ...others] = (await line()).slice(3)
    assert.match(state ?? '', /^success/)
    assert.match(refunded, /^£9\.50 of £46\.50 refunded/)
    const [day, time = ''] = body._embedded.refunds[1].created_date.split('T')
    assert.ok(refunded.includes(`${day} ${time.slice(0, 8)}`), refunded)
    assert.deepEqual(others, [])
    const declined = await api.createPayment()
    await browser.post(`payments/${declined.payment_id}/complete`, { scenario: 'declined' })
    assert.deepEqual(await picture(declined), [[...past.slice(0, 2), ['failed', 'now']], []])
    const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
    const [, buttons] = await picture(moto)
    assert.deepEqual(buttons, [...ends.slice(0, 3), 'cancel'], 'the pages are for web payments')
  })

  test('the way back leads to the list as it was filtered, also after an action', async () => {
    const { api, browser } = await enter(service())
    await api.createPayment({ reference: 'R-back' })
    const list = await browser.get('payments?q=R-back&status=created')
    const row = list.elements.find(({ attributes }) => attributes.href?.startsWith('payments/0'))
    const page = await browser.get(row?.attributes.href ?? '')
    const form = page.elements.find(({ attributes }) => attributes.action?.includes('/cancel'))
    const action = form?.attributes.action?.replace(/^(\.\.\/)+/, '') ?? ''
    const done = await browser.post(action)
    const after = await browser.get(done.location ?? '')
    assert.match(after.text, /cancelled through the API/)
    for (const shown of [page, after])
      assert.ok(
        shown.elements.some(
          ({ attributes }) => attributes.href === '../payments?q=R-back&status=created',
        ),
      )
    const requests = await browser.get('requests?operation=createPayment')
    const request = await browser.get(linkIn(requests, 'POST /v1/payments'))
    const found = linkIn(request, 'Requests, as you found them')
    assert.equal(found, 'requests?operation=createPayment')
  })
})
