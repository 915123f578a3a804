import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statuses } from '../../../src/pay/payments/payment.ts'
import { classed, only, tagged } from '../../hosted/document.ts'
import type { Body } from '../../support/client.ts'
import { enter, linkIn } from '../../support/console.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('The picture of a payment', service => {
  test('the picture has the states that were, the present one and those that are possible, with the buttons that lead there', async () => {
    const { api, browser } = await enter(service())
    /** The states, with brackets around the present one and ? behind those that are possible, and the buttons. */
    const picture = async (payment: Body) => {
      const { elements } = await browser.get(`payments/${payment.payment_id}`)
      const states = elements.filter(classed('farthing-state')).map(({ attributes, text }) => {
        const name = statuses.find(status => text.startsWith(status))
        if (attributes['aria-current'] === 'step') return `[${name}]`
        return text.includes('not yet') ? `${name}?` : name
      })
      const actions = elements.find(classed('farthing-actions'))
      const buttons = (actions?.inside ?? []).filter(tagged('button'))
      return [states.join(' '), ...buttons.map(({ attributes }) => attributes.id)]
    }
    const complete = ({ payment_id }: Body, scenario: string) =>
      browser.post(`payments/${payment_id}/complete`, { scenario })
    const delayed = await api.createPayment({ delayed_capture: true })
    const ends = ['choose-success', 'choose-declined', 'choose-error']
    const all = '[created] started? submitted? capturable? success?'
    assert.deepEqual(await picture(delayed), [all, ...ends, 'choose-cancel', 'cancel'])
    await complete(delayed, 'success')
    const past = 'created started submitted'
    const capturable = `${past} [capturable] success?`
    assert.deepEqual(await picture(delayed), [capturable, 'capture', 'cancel'])
    const paid = await api.createPayment({ reference: 'R-pic' })
    await complete(paid, 'success')
    assert.deepEqual(await picture(paid), [`${past} [success]`, 'refund'])
    const line = async () => {
      const { elements } = await browser.get(`payments/${paid.payment_id}`)
      const { inside } = only(elements, classed('farthing-states'))
      return inside.filter(tagged('li')).map(({ text }) => text)
    }
    assert.equal((await line()).length, 4)
    for (const amount of ['5.50', '4'])
      await browser.post(`payments/${paid.payment_id}/refund`, { amount })
    const { body } = await api.get(`/v1/payments/${paid.payment_id}/refunds`)
    const [state, refunded = '', ...others] = (await line()).slice(3)
    assert.match(state ?? '', /^success/)
    assert.match(refunded, /^£9\.50 of £46\.50 submitted as a refund/)
    const [day, time = ''] = body._embedded.refunds[1].created_date.split('T')
    assert.ok(refunded.includes(`${day} ${time.slice(0, 8)}`), refunded)
    assert.deepEqual(others, [])
    const declined = await api.createPayment()
    await complete(declined, 'declined')
    assert.deepEqual(await picture(declined), ['created started [failed]'])
    const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
    const [, ...buttons] = await picture(moto)
    assert.deepEqual(buttons, [...ends, 'cancel'], 'the pages are for web payments')
  })

  test('the way back leads to the list as it was filtered, also after an action', async () => {
    const { api, browser } = await enter(service())
    await api.createPayment({ reference: 'R-back' })
    const list = await browser.get('payments?q=R-back&status=created')
    const page = await browser.get(linkIn(list, 'R-back'))
    const form = page.elements.find(({ attributes }) => attributes.action?.includes('/cancel'))
    const action = form?.attributes.action?.replace(/^(\.\.\/)+/, '') ?? ''
    const done = await browser.post(action)
    const after = await browser.get(done.location ?? '')
    assert.match(after.text, /cancelled through the API/)
    for (const { elements } of [page, after]) {
      const hrefs = elements.map(({ attributes }) => attributes.href)
      assert.ok(hrefs.includes('../payments?q=R-back&status=created'))
    }
    const requests = await browser.get('requests?operation=createPayment')
    const request = await browser.get(linkIn(requests, 'POST /v1/payments'))
    const found = linkIn(request, 'Requests, as you found them')
    assert.equal(found, 'requests?operation=createPayment')
  })
})
