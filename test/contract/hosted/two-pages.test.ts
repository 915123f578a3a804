import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elementsOf, only, withId } from '../../hosted/document.ts'
import { createAgreement, setUpPayment } from '../../support/agreements.ts'
import type { Answer, Body, Client } from '../../support/client.ts'
import { confirmOf, headings, met, pageOf } from '../../support/hosted-page.ts'
import { choose, newPayment, payOnPages, read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

/** Within the service, Location is the path of a link. */
const path = (href: string): string => new URL(href).pathname

const textOn = ({ text }: Answer) => {
  const elements = elementsOf(text)
  return (id: string) => only(elements, withId(id)).text
}

const confirm = (api: Client, payment: Body, fields = {}) =>
  api.postForm(confirmOf(payment), fields)

const postToken = (api: Client, payment: Body, fields = {}) =>
  api.postForm('/secure', { ...payment._links.next_url_post.params, ...fields })

onSharedDatabases('Hosted pages: the two pages', { control: true }, service => {
  const ways: Record<string, (api: Client, payment: Body) => Promise<Answer>> = {
    'GET /secure/{token}': (api, payment) => api.get(pageOf(payment)),
    'POST /secure with chargeTokenId alone': postToken,
  }
  for (const [way, open] of Object.entries(ways))
    test(`${way} shows the Enter payment details page, and a reload shows the same page and records no second started`, async () => {
      const { api, payment } = await newPayment(service())
      const first = await open(api, payment)
      assert.deepEqual(met(first), [200, headings.details])
      await api.advance(1000)
      assert.equal((await open(api, payment)).text, first.text)
      assert.deepEqual(await statusesOf(api, payment), ['created', 'started'])
    })

  // test/contract/http/routes.test.ts tests that HEAD has the headers of GET.
  test('HEAD under /secure returns status and Location of GET, no body, and does not start the payment', async () => {
    const { api, payment } = await newPayment(service())
    const head = async (path: string) => {
      const { status, headers, text } = await api.request('HEAD', path)
      assert.equal(text, '')
      return [status, headers.get('location')]
    }
    assert.deepEqual(await head(pageOf(payment)), [200, null])
    assert.deepEqual(await statusesOf(api, payment), ['created'])
    assert.deepEqual(await head(confirmOf(payment)), [303, path(pageOf(payment))])
    await choose(api, payment, 'success')
    assert.deepEqual(await head(confirmOf(payment)), [200, null])
    for (const unknown of ['/secure/mistyped', '/secure'])
      assert.deepEqual(await head(unknown), [404, null])
  })

  test('both pages show what is paid, by whom, and its prefilled details, each line of the address with its own text direction', async () => {
    const { api, payment } = await newPayment(service(), {
      amount: 10_000_000,
      email: 'trader@example.org',
      metadata: { note: 'for the service alone' },
      prefilled_cardholder_details: {
        cardholder_name: 'Gwen Hughes',
        billing_address: { line1: 'شقة ٣', city: 'Sampleton', country: 'IE' },
      },
    })
    const details = await api.get(pageOf(payment))
    await choose(api, payment, 'success')
    for (const page of [details, await api.get(confirmOf(payment))]) {
      const text = textOn(page)
      assert.equal(text('payment-description'), payment.description)
      assert.equal(text('payment-reference'), payment.reference)
      assert.equal(text('amount'), '£100,000.00')
      assert.equal(text('cardholder-name'), 'Gwen Hughes')
      assert.equal(text('email'), 'trader@example.org')
      assert.equal(text('address'), 'شقة ٣SampletonIreland')
      assert.ok(page.text.includes('<bdi>شقة ٣</bdi><br><bdi>Sampleton</bdi>'))
      assert.ok(!page.text.includes('for the service alone'))
    }
  })

  test('success redirects to the Confirm your payment page, which shows the mock card and changes nothing', async () => {
    const { api, payment } = await newPayment(service())
    assert.deepEqual(met(await choose(api, payment, 'success')), [303, path(confirmOf(payment))])
    const before = await read(api, payment)
    assert.equal(before.state.status, 'started')
    const answer = await api.get(confirmOf(payment))
    assert.deepEqual(met(answer), [200, headings.confirm])
    const shown = ['card-number', 'expiry-date', 'cardholder-name'].map(textOn(answer))
    assert.deepEqual(shown, ['Ending in 4242', '12/29', 'Demo Cardholder'])
    assert.deepEqual(await read(api, payment), before)
  })

  test('POST /secure/{token} without exactly one scenario of the page shows an error message, changes nothing, and keeps what was chosen before', async () => {
    const { api, payment } = await newPayment(service())
    const wrong = [[], [''], ['SUCCESS'], ['success '], ['constructor']]
    for (const scenarios of [...wrong, ['success', 'declined'], ['success', 'success']]) {
      const fields = scenarios.map((value): [string, string] => ['scenario', value])
      const answer = await api.postForm(pageOf(payment), fields)
      assert.deepEqual(met(answer), [400, headings.details], scenarios.join())
      assert.match(textOn(answer)('scenario-error'), /Select how this payment should end/)
    }
    assert.deepEqual(await read(api, payment), payment)
    await choose(api, payment, 'success')
    const before = await read(api, payment)
    assert.equal((await api.postForm(pageOf(payment), {})).status, 400)
    assert.deepEqual(await read(api, payment), before)
    assert.deepEqual(met(await api.get(confirmOf(payment))), [200, headings.confirm])
  })

  // test/testing/seed.test.ts tests that control leaves the same payment.
  for (const [scenario, page] of [
    ['declined', headings.declined],
    ['error', headings.technical],
    ['cancel', headings.cancelled],
  ] as const)
    test(`POST /secure/{token} with ${scenario} shows the page of this end, which leads to return_url`, async () => {
      const { api, payment } = await newPayment(service())
      const answer = await choose(api, payment, scenario)
      assert.deepEqual(met(answer), [200, page])
      const { tag, text, attributes } = only(elementsOf(answer.text), withId('return-url'))
      assert.deepEqual([tag, text, attributes.href], ['a', 'Continue', payment.return_url])
    })

  test('GET and POST confirm redirect to the first page and change nothing when success was not chosen', async () => {
    const { api, payment } = await newPayment(service())
    for (const isOpened of [false, true]) {
      if (isOpened) await api.get(pageOf(payment))
      const before = await read(api, payment)
      for (const answer of [await api.get(confirmOf(payment)), await confirm(api, payment)])
        assert.deepEqual(met(answer), [303, path(pageOf(payment))])
      assert.deepEqual(await read(api, payment), before)
    }
  })

  for (const [last, delayed_capture, fields] of [
    ['success', false, {}],
    ['capturable', true, {}],
    ['success', false, { confirm: 'yes' }],
    ['success', false, { scenario: 'declined' }],
    ['success', false, { scenario: 'x' }],
  ] as const)
    test(`POST confirm with any field but scenario=cancel completes the payment as ${last} and redirects to return_url: ${JSON.stringify(fields)}`, async () => {
      const { api, payment } = await newPayment(service(), { delayed_capture })
      await choose(api, payment, 'success')
      assert.deepEqual(met(await confirm(api, payment, fields)), [303, payment.return_url])
      assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'submitted', last])
    })

  for (const isChosen of [true, false])
    test(`POST confirm with cancel, also beside another scenario, fails the payment, success ${isChosen ? '' : 'not '}chosen`, async () => {
      const { api, payment } = await newPayment(service())
      await api.get(pageOf(payment))
      if (isChosen) await choose(api, payment, 'success')
      const fields = ['success', 'cancel'].map((value): [string, string] => ['scenario', value])
      const answer = await api.postForm(confirmOf(payment), fields)
      assert.deepEqual(met(answer), [200, headings.cancelled])
      const { state, card_details } = await read(api, payment)
      assert.deepEqual([state.code, card_details], ['P0030', undefined])
      assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'failed'])
    })

  const ends: Record<string, (api: Client, payment: Body) => Promise<unknown>> = {
    success: payOnPages,
    capturable: payOnPages,
    'failed because the card was declined': (...at) => choose(...at, 'declined'),
    error: (...at) => choose(...at, 'error'),
    'cancelled through the API': (api, payment) => api.post(payment._links.cancel.href),
  }
  for (const [name, end] of Object.entries(ends))
    test(`every page redirects to the exact return_url and changes nothing for a payment that is ${name}`, async () => {
      const fields = { delayed_capture: name === 'capturable' }
      const { api, payment } = await newPayment(service(), fields)
      await end(api, payment)
      const before = await read(api, payment)
      const answers = [
        await api.get(pageOf(payment)),
        await api.request('HEAD', pageOf(payment)),
        await choose(api, payment, 'success'),
        await choose(api, payment, 'cancel'),
        await api.postForm(pageOf(payment), {}),
        await api.get(confirmOf(payment)),
        await confirm(api, payment),
        await confirm(api, payment, { scenario: 'cancel' }),
        await postToken(api, payment),
        await postToken(api, payment, { step: 'details' }),
        await postToken(api, payment, { step: 'details', scenario: 'declined' }),
        await postToken(api, payment, { step: 'confirm' }),
      ]
      for (const answer of answers) assert.deepEqual(met(answer), [303, payment.return_url])
      assert.deepEqual(await read(api, payment), before)
    })
})

onSharedDatabases('Pages as those of production', service => {
  test('a prefilled address without a country, or with one that does not exist, is in the United Kingdom', async () => {
    const api = await service().newAccount()
    for (const [given, country, name] of [
      [undefined, 'GB', 'United Kingdom'],
      ...['Albion', 'XX', 'uk', 'SU', 'AC'].map(code => [code, 'GB', 'United Kingdom'] as const),
      ['fr', 'fr', 'France'],
    ] as const) {
      const billing_address = { line1: '1 Road', ...(given && { country: given }) }
      const payment = await api.createPayment({ prefilled_cardholder_details: { billing_address } })
      const { href } = payment._links.next_url
      await choose(api, payment, 'success')
      for (const page of [await api.get(href), await api.get(`${href}/confirm`)])
        assert.match(page.text, new RegExp(`<data value="${country}">${name}</data>`))
      await payOnPages(api, payment)
      const { card_details } = await read(api, payment)
      assert.equal(card_details.billing_address.country, country)
    }
  })

  test('a payment that sets up an agreement shows its description, and says that the card will be kept', async () => {
    const api = await service().newAccount()
    const agreement = await createAgreement(api)
    const payment = await setUpPayment(api, agreement)
    await choose(api, payment, 'success')
    const shown =
      /id="agreement-description"[^>]*>Monthly plan<br>Your card details will be saved for future payments/
    for (const path of [pageOf(payment), confirmOf(payment)])
      assert.match((await api.get(path)).text, shown)
    const plain = await api.get(pageOf(await api.createPayment()))
    assert.doesNotMatch(plain.text, /agreement-description/)
  })

  test('an address that a client has built itself is told that only next_url leads to a payment', async () => {
    const api = await service().newAccount()
    const { payment_id } = await api.createPayment()
    const { status, text } = await api.get(`/card_details/${payment_id}`, { Accept: 'text/html' })
    assert.equal(status, 404)
    assert.match(text, /only the next_url of a payment leads to its page/)
  })
})
