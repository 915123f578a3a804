import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scenarios } from '../../src/hosted/journey.ts'
import { confirmPage, detailsPage, endPage, faultPage, messages } from '../../src/hosted/pages.ts'
import { elementsOf, type Found, only, tagged, withId } from './document.ts'
import { card, form, payment, person, returnUrl, shell } from './examples.ts'

const languages = ['en', 'cy'] as const

/** The rows of all summary lists of a page: what stands left, and what stands right. */
function rows(elements: Found[]): Record<string, string> {
  const text = (tag: string) => elements.filter(tagged(tag)).map(one => one.text)
  const values = text('dd')
  return Object.fromEntries(text('dt').map((key, position) => [key, values[position]!]))
}

function heading(source: string): string {
  return only(elementsOf(source), tagged('h1')).text
}

describe('Enter payment details page', () => {
  const page = (more: object = {}, error = false) =>
    elementsOf(detailsPage(shell, { ...payment, ...more }, form, { error }))

  it('shows the payment summary: description and total amount', () => {
    assert.deepEqual(rows(page()), {
      Description: 'Market pitch, week 38',
      Reference: 'PITCH-2207',
      'Total amount': '£1,234.50',
    })
  })

  const amounts: [pence: number, shown: string][] = [
    [0, '£0.00'],
    [1, '£0.01'],
    [100, '£1.00'],
    [4650, '£46.50'],
    [123450, '£1,234.50'],
    [10000000, '£100,000.00'],
  ]
  for (const [amount, shown] of amounts)
    it(`shows ${amount} pence as ${shown} in both languages`, () => {
      assert.equal(rows(page({ amount }))['Total amount'], shown)
      assert.equal(rows(page({ amount, language: 'cy' })).Cyfanswm, shown)
    })

  it('carries prefilled cardholder details and email through', () => {
    const shown = rows(page(person))
    assert.equal(shown['Name on card'], 'Gwen Hughes')
    assert.equal(shown['Email address'], 'gwen@example.org')
    assert.equal(shown['Billing address'], '1 Sample StreetUpper EndSampletonZZ1 1ZZUnited Kingdom')
  })

  it('names the country in the language of the page and keeps its code as it was sent', () => {
    const given = { billing_address: { country: 'gb' }, language: 'cy' }
    const country = only(page(given), tagged('data'))
    assert.equal(country.text, 'Y Deyrnas Unedig')
    assert.equal(country.attributes.value, 'gb')
  })

  it('shows the code itself when no country has it', () => {
    assert.equal(only(page({ billing_address: { country: 'XX' } }), tagged('data')).text, 'XX')
  })

  it('shows no row and no heading for what the client did not send', () => {
    const elements = page({ billing_address: {}, cardholder_name: '' })
    assert.deepEqual(Object.keys(rows(elements)), ['Description', 'Reference', 'Total amount'])
    assert.ok(!elements.some(({ text }) => text === messages.en.person.heading))
  })

  it('has a scenario picker: success, declined, error, cancel, none of them chosen', () => {
    const inputs = page().filter(element => element.attributes.type === 'radio')
    assert.deepEqual(
      inputs.map(({ attributes }) => [attributes.id, attributes.name, attributes.value]),
      [
        ['scenario', 'scenario', 'success'],
        ['scenario-2', 'scenario', 'declined'],
        ['scenario-3', 'scenario', 'error'],
        ['scenario-5', 'scenario', 'cancel'],
      ],
    )
    assert.deepEqual(
      inputs.map(({ attributes }) => attributes.value),
      scenarios,
    )
    assert.ok(!inputs.some(({ attributes }) => 'checked' in attributes))
  })

  it('says where success leads: to capturable when the capture is delayed', () => {
    const hint = (delayed_capture: boolean) =>
      only(page({ delayed_capture }), withId('scenario-item-hint')).text
    assert.match(hint(false), /success/)
    assert.match(hint(true), /capturable/)
  })

  it('posts to where the route says, with the fields that it says', () => {
    const forms = page().filter(tagged('form'))
    assert.deepEqual(
      forms.map(({ attributes }) => attributes),
      [
        { method: 'post', action: '/farthing/secure/abc' },
        { id: 'cancel', method: 'post', action: '/farthing/secure/abc' },
      ],
    )
    for (const { inside } of forms) {
      const hidden = only(inside, element => element.attributes.type === 'hidden').attributes
      assert.deepEqual(hidden, { type: 'hidden', name: 'step', value: 'details' })
    }
    assert.equal(only(forms[0]!.inside, withId('submit-card-details')).text, 'Continue')
  })

  it('has a Cancel button that counts whatever is chosen in the picker', () => {
    const { text, attributes } = only(page(), withId('cancel-payment'))
    const { form, name, value } = attributes
    assert.deepEqual(
      { text, form, name, value },
      {
        text: 'Cancel payment',
        form: 'cancel',
        name: 'scenario',
        value: 'cancel',
      },
    )
  })

  for (const language of languages)
    it(`shows an error message when no scenario was chosen (${language})`, () => {
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

  it('has no error message before anything was sent', () => {
    const elements = page()
    assert.ok(!elements.some(element => element.attributes.role === 'alert'))
    assert.doesNotMatch(only(elements, tagged('title')).text, /^Error/)
  })
})

describe('Confirm your payment page', () => {
  const page = (more: object = {}) =>
    elementsOf(confirmPage(shell, { ...payment, email: person.email, card, ...more }, form))

  it('shows mock card details beside the payment summary', () => {
    assert.deepEqual(rows(page()), {
      Description: 'Market pitch, week 38',
      Reference: 'PITCH-2207',
      'Total amount': '£1,234.50',
      'Card type': 'Visa credit',
      'Card number': 'Ending in 4242',
      'Expiry date': '12/29',
      'Name on card': 'Gwen Hughes',
      'Billing address': '1 Sample StreetUpper EndSampletonZZ1 1ZZUnited Kingdom',
      'Email address': 'gwen@example.org',
    })
  })

  it('shows a debit card as one, and no kind where it is not known', () => {
    const type = (card_type: 'debit' | null) =>
      rows(page({ card: { ...card, card_type }, language: 'cy' }))['Math o gerdyn']
    assert.equal(type('debit'), 'Cerdyn debyd Visa')
    assert.equal(type(null), 'Visa')
  })

  it('confirms with its first button, which is the one that Enter presses, and cancels with its second', () => {
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

describe('End pages', () => {
  it('say cancelled, declined and technical problems', () => {
    const title = (ending: 'cancelled' | 'declined' | 'technical') =>
      heading(endPage(shell, ending, 'en', returnUrl))
    assert.match(title('cancelled'), /cancelled/)
    assert.match(title('declined'), /declined/)
    assert.match(title('technical'), /technical problems/)
  })

  for (const language of languages)
    for (const ending of ['cancelled', 'declined', 'technical'] as const)
      it(`have a button that leads back to return_url: ${ending} (${language})`, () => {
        const elements = elementsOf(endPage(shell, ending, language, returnUrl))
        const link = only(elements, withId('return-url'))
        assert.equal(link.tag, 'a')
        assert.equal(link.attributes.href, returnUrl)
        assert.equal(link.text, messages[language].returnButton)
      })
})

describe('Pages for what cannot be answered', () => {
  it('has a Page not found page that says how long links last', () => {
    const source = faultPage(shell, 404)
    assert.equal(heading(source), 'Page not found')
    assert.match(source, /7 days/)
    assert.match(source, /7 diwrnod/)
  })

  it('has a page of its own for each status that the routes answer with', () => {
    const headings = [400, 403, 404, 405, 413, 415, 500].map(status =>
      heading(faultPage(shell, status)),
    )
    assert.equal(new Set(headings).size, headings.length)
  })

  it('falls back to a plain answer for every other status', () => {
    assert.equal(faultPage(shell, 431), faultPage(shell, 400))
    assert.equal(faultPage(shell, 503), faultPage(shell, 500))
  })
})
