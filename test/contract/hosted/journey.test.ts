import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elementsOf, only, withId } from '../../hosted/document.ts'
import type { Body, Client } from '../../support/client.ts'
import { met } from '../../support/hosted-page.ts'
import { choose, read, statusesOf } from '../../support/journeys.ts'
import { onEveryDatabase } from '../../support/service.ts'

const DETAILS = 'Enter payment details'
const CONFIRM = 'Confirm your payment'
const CANCELLED = 'Your payment has been cancelled'
const DECLINED = 'Your payment has been declined'
const TECHNICAL = 'Sorry, we are having technical problems'

const pageOf = (payment: Body): string => payment._links.next_url.href
const confirmOf = (payment: Body): string => `${pageOf(payment)}/confirm`

/** The path of a link; Location within the service is one. */
const path = (href: string): string => new URL(href).pathname

async function stateOf(api: Client, payment: Body) {
  return (await read(api, payment)).state
}

onEveryDatabase('GET /secure/{token}', service => {
  test('shows the Enter payment details page', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    assert.deepEqual(met(await api.get(pageOf(payment))), [200, DETAILS])
  })

  test('moves the payment from created to started when the page is first shown', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    await api.get(pageOf(payment))
    assert.deepEqual(await stateOf(api, payment), { status: 'started', finished: false })
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started'])
  })

  test('shows the same page on a reload, and records no second started', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    const first = await api.get(pageOf(payment))
    service().clock.advance(1000)
    const second = await api.get(pageOf(payment))
    assert.equal(second.text, first.text)
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started'])
  })

  test('answers HEAD as GET, without a body and without starting the payment', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    const head = await api.request('HEAD', pageOf(payment))
    assert.deepEqual(await statusesOf(api, payment), ['created'])
    const get = await api.get(pageOf(payment))
    assert.deepEqual([head.status, head.text], [200, ''])
    const ofThePage = /^(content|cache|referrer|x-|cross|permissions)/
    const names = [...get.headers.keys()].filter(name => ofThePage.test(name))
    assert.ok(names.includes('content-length'))
    for (const name of names) assert.equal(head.headers.get(name), get.headers.get(name), name)
  })

  test('answers HEAD as GET on redirects, on the confirm page and where there is nothing', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    const head = async (path: string) => {
      const { status, headers, text } = await api.request('HEAD', path)
      assert.equal(text, '')
      return [status, headers.get('location')]
    }
    assert.deepEqual(await head(confirmOf(payment)), [303, path(pageOf(payment))])
    await choose(api, payment, 'success')
    assert.deepEqual(await head(confirmOf(payment)), [200, null])
    assert.deepEqual(await head('/secure/mistyped'), [404, null])
    assert.deepEqual(await head('/secure'), [404, null])
  })

  test('shows description, reference and total amount of the payment', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment({ amount: 10_000_000 })
    const elements = elementsOf((await api.get(pageOf(payment))).text)
    assert.equal(only(elements, withId('payment-description')).text, payment.description)
    assert.equal(only(elements, withId('payment-reference')).text, payment.reference)
    assert.equal(only(elements, withId('amount')).text, '£100,000.00')
  })

  test('carries prefilled cardholder details and email through, to the confirm page too', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment({
      email: 'trader@example.org',
      prefilled_cardholder_details: {
        cardholder_name: 'Gwen Hughes',
        billing_address: { line1: '3 Corn Street', city: 'Sampleton', country: 'IE' },
      },
    })
    const details = await api.get(pageOf(payment))
    await choose(api, payment, 'success')
    for (const { text } of [details, await api.get(confirmOf(payment))]) {
      const shown = elementsOf(text)
      assert.equal(only(shown, withId('cardholder-name')).text, 'Gwen Hughes')
      assert.equal(only(shown, withId('email')).text, 'trader@example.org')
      assert.equal(only(shown, withId('address')).text, '3 Corn StreetSampletonIreland')
    }
  })

  test('is in the language of the payment', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment({ language: 'cy' })
    const [status, heading] = met(await api.get(pageOf(payment)))
    assert.deepEqual([status, heading], [200, 'Rhowch fanylion y taliad'])
  })

  test('is still open days later, until the payment is 7 days old', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    const week = 7 * 24 * 3_600_000
    service().clock.advance(week - 1)
    assert.deepEqual(met(await api.get(pageOf(payment))), [200, DETAILS])
    service().clock.advance(1)
    assert.deepEqual(met(await api.get(pageOf(payment))), [404, 'Page not found'])
    assert.deepEqual(met(await choose(api, payment, 'success')), [404, 'Page not found'])
  })
})

onEveryDatabase('POST /secure/{token}', service => {
  const unchosen: [what: string, fields: [string, string][]][] = [
    ['no scenario', []],
    ['an empty scenario', [['scenario', '']]],
    ['an unknown scenario', [['scenario', 'refund']]],
    ['a scenario in capitals', [['scenario', 'SUCCESS']]],
    ['a scenario with a space', [['scenario', 'success ']]],
    ['the name of what every object has', [['scenario', 'constructor']]],
    [
      'two scenarios',
      [
        ['scenario', 'success'],
        ['scenario', 'declined'],
      ],
    ],
    [
      'the same scenario twice',
      [
        ['scenario', 'success'],
        ['scenario', 'success'],
      ],
    ],
  ]
  for (const [what, fields] of unchosen)
    test(`with ${what} shows an error message and changes nothing`, async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment()
      const answer = await api.postForm(pageOf(payment), fields)
      assert.deepEqual(met(answer), [400, DETAILS])
      const alert = only(elementsOf(answer.text), ({ attributes }) => attributes.role === 'alert')
      assert.match(alert.text, /Select how this payment should end/)
      assert.deepEqual(await read(api, payment), payment)
      assert.deepEqual(await statusesOf(api, payment), ['created'])
    })

  test('without a choice leaves a choice that was made before', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    await choose(api, payment, 'success')
    const before = await read(api, payment)
    assert.equal((await api.postForm(pageOf(payment), {})).status, 400)
    assert.deepEqual(await read(api, payment), before)
    assert.deepEqual(met(await api.get(confirmOf(payment))), [200, CONFIRM])
  })

  test('with success leads to the confirm page, and reaches no final state yet', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    await api.get(pageOf(payment))
    assert.deepEqual(met(await choose(api, payment, 'success')), [303, path(confirmOf(payment))])
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started'])
  })

  const endings: [scenario: string, page: string, state: object, events: string[]][] = [
    ['declined', DECLINED, { status: 'failed', code: 'P0010' }, ['created', 'started', 'failed']],
    ['error', TECHNICAL, { status: 'error', code: 'P0050' }, ['created', 'started', 'error']],
    ['cancel', CANCELLED, { status: 'failed', code: 'P0030' }, ['created', 'started', 'failed']],
  ]
  for (const [scenario, page, expected, events] of endings) {
    test(`with ${scenario} ends the payment and shows its page`, async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment()
      await api.get(pageOf(payment))
      const answer = await choose(api, payment, scenario)
      assert.deepEqual(met(answer), [200, page])
      const { status, finished, code } = await stateOf(api, payment)
      assert.deepEqual({ status, code }, expected)
      assert.equal(finished, true)
      assert.deepEqual(await statusesOf(api, payment), events)
      const link = only(elementsOf(answer.text), withId('return-url'))
      assert.deepEqual(
        [link.tag, link.text, link.attributes.href],
        ['a', 'Continue', payment.return_url],
      )
    })

    test(`with ${scenario} sent again leads to return_url`, async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment()
      await choose(api, payment, scenario)
      const before = await statusesOf(api, payment)
      assert.deepEqual(met(await choose(api, payment, scenario)), [303, payment.return_url])
      assert.deepEqual(await statusesOf(api, payment), before)
    })
  }

  const unopened: [scenario: string, events: string[]][] = [
    ['success', ['created', 'started']],
    ['declined', ['created', 'started', 'failed']],
    ['error', ['created', 'started', 'error']],
    ['cancel', ['created', 'failed']],
  ]
  for (const [scenario, events] of unopened)
    test(`with ${scenario} works without an earlier GET: ${events.join(', ')}`, async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment()
      await choose(api, payment, scenario)
      assert.deepEqual(await statusesOf(api, payment), events)
    })
})

onEveryDatabase('GET /secure/{token}/confirm', service => {
  test('leads back to the first page when success was not chosen, and changes nothing', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    assert.deepEqual(met(await api.get(confirmOf(payment))), [303, path(pageOf(payment))])
    assert.deepEqual(await read(api, payment), payment)
  })

  test('shows the Confirm your payment page with mock card details', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    await choose(api, payment, 'success')
    const before = await read(api, payment)
    const answer = await api.get(confirmOf(payment))
    assert.deepEqual(met(answer), [200, CONFIRM])
    const shown = elementsOf(answer.text)
    const text = (id: string) => only(shown, withId(id)).text
    assert.equal(text('card-type'), 'Visa credit')
    assert.equal(text('card-number'), 'Ending in 4242')
    assert.equal(text('expiry-date'), '12/29')
    assert.equal(text('cardholder-name'), 'Demo Cardholder')
    assert.equal(text('address'), '1 Sample StreetSampletonZZ1 1ZZUnited Kingdom')
    assert.equal(text('amount'), '£46.50')
    assert.deepEqual(await read(api, payment), before)
  })

  test('shows the card that the payment then has', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    await choose(api, payment, 'success')
    await api.postForm(confirmOf(payment), {})
    const { card_details } = await read(api, payment)
    assert.equal(card_details.last_digits_card_number, '4242')
    assert.equal(card_details.cardholder_name, 'Demo Cardholder')
    assert.equal(card_details.expiry_date, '12/29')
  })

  test('lets the user go back to the first page and choose again', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    await choose(api, payment, 'success')
    assert.deepEqual(met(await api.get(pageOf(payment))), [200, DETAILS])
    assert.deepEqual(met(await api.get(confirmOf(payment))), [200, CONFIRM])
    assert.deepEqual(met(await choose(api, payment, 'declined')), [200, DECLINED])
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'failed'])
  })
})

onEveryDatabase('POST /secure/{token}/confirm', service => {
  for (const opened of [false, true])
    test(`leads back when success was not chosen, page ${opened ? '' : 'not '}opened`, async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment()
      if (opened) await api.get(pageOf(payment))
      const before = await read(api, payment)
      const answer = await api.postForm(confirmOf(payment), {})
      assert.deepEqual(met(answer), [303, path(pageOf(payment))])
      assert.deepEqual(await read(api, payment), before)
    })

  for (const delayed_capture of [false, true]) {
    const last = delayed_capture ? 'capturable' : 'success'
    test(`completes the payment as ${last} and leads to return_url`, async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment({ delayed_capture })
      await api.get(pageOf(payment))
      await choose(api, payment, 'success')
      const answer = await api.postForm(confirmOf(payment), {})
      assert.deepEqual(met(answer), [303, payment.return_url])
      assert.equal((await stateOf(api, payment)).status, last)
      assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'submitted', last])
    })
  }

  const confirming: [what: string, fields: [string, string][]][] = [
    ['any other field', [['confirm', 'yes']]],
    ['a scenario that is not cancel', [['scenario', 'declined']]],
    ['an unknown scenario', [['scenario', 'x']]],
  ]
  for (const [what, fields] of confirming)
    test(`confirms with ${what}`, async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment()
      await choose(api, payment, 'success')
      const answer = await api.postForm(confirmOf(payment), fields)
      assert.deepEqual(met(answer), [303, payment.return_url])
      assert.equal((await stateOf(api, payment)).status, 'success')
    })

  test('with cancel beside another value cancels', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    await choose(api, payment, 'success')
    const answer = await api.postForm(confirmOf(payment), [
      ['scenario', 'success'],
      ['scenario', 'cancel'],
    ])
    assert.deepEqual(met(answer), [200, CANCELLED])
  })

  for (const chosen of [true, false])
    test(`with cancel fails the payment, success ${chosen ? '' : 'not '}chosen`, async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment()
      await api.get(pageOf(payment))
      if (chosen) await choose(api, payment, 'success')
      const answer = await api.postForm(confirmOf(payment), { scenario: 'cancel' })
      assert.deepEqual(met(answer), [200, CANCELLED])
      assert.equal((await stateOf(api, payment)).code, 'P0030')
      assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'failed'])
      assert.equal((await read(api, payment)).card_details, undefined)
    })
})

onEveryDatabase('A payment that is finished or capturable', service => {
  const ends: [
    name: string,
    fields: Record<string, unknown>,
    end: (api: Client, payment: Body) => Promise<unknown>,
  ][] = [
    ['success', {}, confirmed],
    ['capturable', { delayed_capture: true }, confirmed],
    ['failed, declined', {}, (api, payment) => choose(api, payment, 'declined')],
    ['failed, cancelled by the user', {}, (api, payment) => choose(api, payment, 'cancel')],
    ['error', {}, (api, payment) => choose(api, payment, 'error')],
    ['cancelled through the API', {}, (api, payment) => api.post(payment._links.cancel.href)],
  ]
  for (const [name, fields, end] of ends)
    test(`leads from every page to return_url, with nothing added: ${name}`, async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment(fields)
      await end(api, payment)
      const before = await read(api, payment)
      const token = payment._links.next_url_post.params
      const answers = [
        await api.get(pageOf(payment)),
        await api.request('HEAD', pageOf(payment)),
        await choose(api, payment, 'success'),
        await choose(api, payment, 'cancel'),
        await api.postForm(pageOf(payment), {}),
        await api.get(confirmOf(payment)),
        await api.postForm(confirmOf(payment), {}),
        await api.postForm(confirmOf(payment), { scenario: 'cancel' }),
        await api.postForm('/secure', token),
        await api.postForm('/secure', { ...token, step: 'details' }),
        await api.postForm('/secure', { ...token, step: 'details', scenario: 'declined' }),
        await api.postForm('/secure', { ...token, step: 'confirm' }),
      ]
      for (const answer of answers) assert.deepEqual(met(answer), [303, payment.return_url])
      assert.deepEqual(await read(api, payment), before)
    })
})

async function confirmed(api: Client, payment: Body): Promise<void> {
  await choose(api, payment, 'success')
  await api.postForm(confirmOf(payment), {})
}
