import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { confirmPage, detailsPage, errorPage, messages } from '../../src/pay/hosted/pages.ts'
import { choices } from '../../src/pay/payments/payment.ts'
import { classed, elementsOf, type Found, only, tagged, withId } from './document.ts'
import { card, form, payment, person, site } from './examples.ts'

function rows(elements: Found[]): Record<string, string> {
  const text = (tag: string) => elements.filter(tagged(tag)).map(one => one.text)
  const values = text('dd')
  return Object.fromEntries(text('dt').map((key, position) => [key, values[position]!]))
}

const summary = {
  Description: 'Market pitch, week 38',
  Reference: 'PITCH-2207',
  'Total amount': '£1,234.50',
}
const payer = {
  'Name on card': 'Gwen Hughes',
  'Billing address': '1 Sample StreetUpper EndSampletonZZ1 1ZZUnited Kingdom',
  'Email address': 'gwen@example.org',
}

describe('The details page', () => {
  const page = (more: object = {}, error = false) =>
    elementsOf(detailsPage(site, { ...payment, ...more }, form, { error }))

  it('The details page shows the payment and the payer', () => {
    assert.deepEqual(rows(page(person)), { ...summary, ...payer })
  })

  it('The details page has no row and no heading for details that the client did not send', () => {
    const elements = page({ billing_address: {}, cardholder_name: '' })
    assert.deepEqual(rows(elements), summary)
    assert.ok(!elements.some(({ text }) => text === messages.en.person.heading))
  })

  it('A country has its name in the language of the page, and its code as it was sent', () => {
    const country = (country: string) =>
      only(page({ billing_address: { country }, language: 'cy' }), tagged('data'))
    assert.equal(country('gb').text, 'Y Deyrnas Unedig')
    assert.equal(country('gb').attributes.value, 'gb')
    assert.equal(country('XX').text, 'XX')
  })

  it('The picker has every scenario and none is preselected', () => {
    const inputs = page().filter(element => element.attributes.type === 'radio')
    const said = (name: string) => inputs.map(({ attributes }) => attributes[name])
    assert.deepEqual(said('id'), ['scenario', 'scenario-2', 'scenario-3', 'scenario-5'])
    assert.deepEqual(said('name'), Array(4).fill('scenario'))
    assert.deepEqual(said('value'), choices)
    assert.deepEqual(said('checked'), Array(4).fill(undefined))
  })

  it('On a Welsh page the statuses, which are English words, are marked as English', () => {
    for (const delayed_capture of [false, true]) {
      const elements = page({ delayed_capture, language: 'cy' })
      const statuses = elements
        .filter(classed('govuk-radios__hint'))
        .map(({ inside }) => only(inside, ({ attributes }) => attributes.lang === 'en').text)
      const first = delayed_capture ? 'capturable' : 'success'
      assert.deepEqual(statuses, [first, 'failed', 'error', 'failed'])
    }
  })

  it('Continue and Cancel submit two forms with the same address and the same hidden fields', () => {
    const elements = page()
    const forms = elements.filter(tagged('form'))
    const post = { method: 'post', action: '/farthing/secure/abc' }
    const hidden = { type: 'hidden', name: 'step', value: 'details' }
    for (const [nth, { attributes, inside }] of forms.entries()) {
      assert.deepEqual(attributes, nth === 0 ? post : { id: 'cancel', ...post })
      const found = only(inside, element => element.attributes.type === 'hidden')
      assert.deepEqual(found.attributes, hidden)
    }
    assert.equal(forms.length, 2)
    assert.equal(only(forms[0]!.inside, withId('submit-card-details')).text, 'Continue')
    const { text, attributes } = only(elements, withId('cancel-payment'))
    const { form: owner, name, value } = attributes
    assert.deepEqual([text, owner, name, value], ['Cancel payment', 'cancel', 'scenario', 'cancel'])
  })

  for (const language of ['en', 'cy'] as const)
    it(`The error of a missing choice is in the title, the summary and the fieldset (${language})`, () => {
      const elements = page({ language }, true)
      const { nothingChosen, errorSummaryTitle, errorPrefix } = messages[language].details
      const main = only(elements, tagged('main'))
      const summary = only(main.inside, element => element.attributes.role === 'alert')
      assert.equal(only(summary.inside, tagged('h2')).text, errorSummaryTitle)
      const link = only(summary.inside, tagged('a'))
      assert.deepEqual([link.text, link.attributes.href], [nothingChosen, '#scenario'])
      const message = only(elements, withId('scenario-error'))
      assert.equal(message.text, `${errorPrefix}: ${nothingChosen}`)
      const described = only(elements, tagged('fieldset')).attributes['aria-describedby']
      assert.equal(described, 'scenario-hint scenario-error')
      assert.ok(only(elements, tagged('title')).text.startsWith(`${errorPrefix}: `))
    })
})

describe('The confirm page', () => {
  const page = (more: object = {}) =>
    elementsOf(confirmPage(site, { ...payment, email: person.email, card, ...more }, form))

  it('The confirm page shows the payment, the mock card and the payer', () => {
    assert.deepEqual(rows(page()), {
      ...summary,
      'Card type': 'Visa credit',
      'Card number': 'Ending in 4242',
      'Expiry date': '12/29',
      ...payer,
    })
  })

  it('The type of a card is left out if it is not known', () => {
    const type = (card_type: 'debit' | null) =>
      rows(page({ card: { ...card, card_type }, language: 'cy' }))['Math o gerdyn']
    assert.equal(type('debit'), 'Cerdyn debyd Visa')
    assert.equal(type(null), 'Visa')
  })

  it('The first button, which Enter presses, confirms and the second cancels', () => {
    const { attributes, inside } = only(page(), tagged('form'))
    assert.equal(attributes.action, '/farthing/secure/abc')
    const buttons = inside.filter(tagged('button')).map(({ attributes }) => attributes)
    assert.deepEqual(
      buttons.map(({ id, type, name, value }) => ({ id, type, name, value })),
      [
        { id: 'confirm', type: 'submit', name: undefined, value: undefined },
        { id: 'cancel-payment', type: 'submit', name: 'scenario', value: 'cancel' },
      ],
    )
    for (const one of buttons) assert.equal(one['data-prevent-double-click'], 'true')
  })
})

it('Each error status of the routes has a page of its own, which for 404 says in both languages for how many days links work, and any other a general one', () => {
  assert.match(errorPage(site, 404), /7 days.*7 diwrnod/s)
  const sources = [400, 403, 404, 405, 413, 415, 500].map(status => errorPage(site, status))
  assert.equal(new Set(sources).size, sources.length)
  assert.equal(errorPage(site, 431), errorPage(site, 400))
  assert.equal(errorPage(site, 503), errorPage(site, 500))
})
