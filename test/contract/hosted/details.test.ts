import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { elementsOf, only, withId } from '../../hosted/document.ts'
import type { Body, Client } from '../../support/client.ts'
import { confirmOf, headings, met, pageOf } from '../../support/hosted-page.ts'
import { choose, newPayment, read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

/** The path of a link. Within the service, Location is a path. */
const path = (href: string): string => new URL(href).pathname

async function stateOf(api: Client, payment: Body) {
  return (await read(api, payment)).state
}

onSharedDatabases(
  'Hosted pages: first page',
  service => {
    describe('GET', () => {
      test('GET /secure/{token} shows the Enter payment details page, and a reload shows the same page and records no second started', async () => {
        const { api, payment } = await newPayment(service())
        const first = await api.get(pageOf(payment))
        assert.deepEqual(met(first), [200, headings.details])
        await api.advance(1000)
        const second = await api.get(pageOf(payment))
        assert.equal(second.text, first.text)
        assert.deepEqual(await statusesOf(api, payment), ['created', 'started'])
      })

      test('HEAD /secure/{token} returns the headers of GET, no body, and does not start the payment', async () => {
        const { api, payment } = await newPayment(service())
        const head = await api.request('HEAD', pageOf(payment))
        assert.deepEqual(await statusesOf(api, payment), ['created'])
        const get = await api.get(pageOf(payment))
        assert.deepEqual([head.status, head.text], [200, ''])
        const ofThePage = /^(content|cache|referrer|x-|cross|permissions)/
        const names = [...get.headers.keys()].filter(name => ofThePage.test(name))
        assert.ok(names.includes('content-length'))
        for (const name of names) assert.equal(head.headers.get(name), get.headers.get(name), name)
      })

      test('HEAD under /secure returns the status and Location of GET for redirects, the confirm page and unknown pages', async () => {
        const { api, payment } = await newPayment(service())
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

      test('the first page shows the description, reference and total amount of the payment', async () => {
        const { api, payment } = await newPayment(service(), { amount: 10_000_000 })
        const elements = elementsOf((await api.get(pageOf(payment))).text)
        assert.equal(only(elements, withId('payment-description')).text, payment.description)
        assert.equal(only(elements, withId('payment-reference')).text, payment.reference)
        assert.equal(only(elements, withId('amount')).text, '£100,000.00')
      })

      test('both pages show prefilled cardholder details and the email', async () => {
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

      test('each line of an address on a page has its own text direction', async () => {
        const api = await service().newAccount()
        const address = { line1: 'شقة ٣', line2: '12 High Street (rear).' }
        const payment = await api.createPayment({
          prefilled_cardholder_details: { billing_address: address },
        })
        const { text } = await api.get(pageOf(payment))
        assert.ok(text.includes(`<bdi>${address.line1}</bdi><br><bdi>${address.line2}</bdi>`))
      })

      test('the first page is in the language of the payment', async () => {
        const { api, payment } = await newPayment(service(), { language: 'cy' })
        const [status, heading] = met(await api.get(pageOf(payment)))
        assert.deepEqual([status, heading], [200, 'Rhowch fanylion y taliad'])
      })
    })

    describe('POST', () => {
      test('POST /secure/{token} without exactly one scenario of the page shows an error message and changes nothing', async () => {
        const { api, payment } = await newPayment(service())
        for (const scenarios of [
          [],
          [''],
          ['SUCCESS'],
          ['success '],
          ['constructor'],
          ['success', 'declined'],
          ['success', 'success'],
        ]) {
          const fields = scenarios.map((value): [string, string] => ['scenario', value])
          const answer = await api.postForm(pageOf(payment), fields)
          assert.deepEqual(met(answer), [400, headings.details], scenarios.join())
          const alert = only(
            elementsOf(answer.text),
            ({ attributes }) => attributes.role === 'alert',
          )
          assert.match(alert.text, /Select how this payment should end/)
        }
        assert.deepEqual(await read(api, payment), payment)
      })

      test('POST /secure/{token} without a scenario keeps the scenario that was chosen before', async () => {
        const { api, payment } = await newPayment(service())
        await choose(api, payment, 'success')
        const before = await read(api, payment)
        assert.equal((await api.postForm(pageOf(payment), {})).status, 400)
        assert.deepEqual(await read(api, payment), before)
        assert.deepEqual(met(await api.get(confirmOf(payment))), [200, headings.confirm])
      })

      test('POST /secure/{token} with success redirects to the confirm page and the payment stays started', async () => {
        const { api, payment } = await newPayment(service())
        await api.get(pageOf(payment))
        assert.deepEqual(met(await choose(api, payment, 'success')), [
          303,
          path(confirmOf(payment)),
        ])
        assert.deepEqual(await statusesOf(api, payment), ['created', 'started'])
      })

      for (const [scenario, page, status, code] of [
        ['declined', headings.declined, 'failed', 'P0010'],
        ['error', headings.technical, 'error', 'P0050'],
        ['cancel', headings.cancelled, 'failed', 'P0030'],
      ] as const)
        test(`POST /secure/{token} with ${scenario} ends the payment and shows its page`, async () => {
          const { api, payment } = await newPayment(service())
          await api.get(pageOf(payment))
          const answer = await choose(api, payment, scenario)
          assert.deepEqual(met(answer), [200, page])
          const state = await stateOf(api, payment)
          assert.deepEqual([state.status, state.code, state.finished], [status, code, true])
          assert.deepEqual(await statusesOf(api, payment), ['created', 'started', status])
          const link = only(elementsOf(answer.text), withId('return-url'))
          assert.deepEqual(
            [link.tag, link.text, link.attributes.href],
            ['a', 'Continue', payment.return_url],
          )
        })
    })
  },
  { control: true },
)
