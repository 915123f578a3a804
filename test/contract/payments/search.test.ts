import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Body, Client } from '../../support/client.ts'
import { authorise, choose, DECLINED, payOnPages, read } from '../../support/journeys.ts'
import { newAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('Payments: search', { control: true }, service => {
  let api: Client
  /** Named after their special property, oldest first, one minute apart. */
  const payments: Record<string, Body> = {}
  let agreement_id = ''

  async function found(query: Record<string, string>): Promise<string[]> {
    const answer = await api.get(`/v1/payments?${new URLSearchParams(query)}`)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.total, answer.body.results.length)
    const ids: string[] = answer.body.results.map((each: Body) => each.payment_id)
    return ids.map(
      id => Object.entries(payments).find(([, { payment_id }]) => payment_id === id)?.[0] ?? id,
    )
  }

  before(async () => {
    api = await service().newAccount()
    agreement_id = await newAgreement(api)
    const make = async (name: string, fields: Record<string, unknown> = {}) => {
      await api.advance(60_000)
      payments[name] = await api.createPayment({ reference: name, ...fields })
      return payments[name]
    }
    const moto = { authorisation_mode: 'moto_api' }
    await make('created', { email: 'Trader@Example.org' })
    const started = await make('started', {
      reference: 'Straße 50%_off',
      email: 'a_b%c\\d@x.org',
    })
    await api.get(started._links.next_url.href)
    const prefilled_cardholder_details = { cardholder_name: 'Ŵyn O’Brien-ΣΑΣ' }
    await payOnPages(api, await make('success', { prefilled_cardholder_details }))
    await payOnPages(api, await make('capturable', { delayed_capture: true }))
    await choose(api, await make('declined'), 'declined')
    await choose(api, await make('error'), 'error')
    await choose(api, await make('cancelled by the user'), 'cancel')
    await api.post((await make('cancelled'))._links.cancel.href)
    const amex = { card_number: '371449635398431', cardholder_name: 'Ann Other' }
    await authorise(api, await make('amex', moto), amex)
    await authorise(api, await make('declined moto', moto), { card_number: DECLINED })
    await payOnPages(api, await make('sets up', { set_up_agreement: agreement_id }))
    await make('uses', { authorisation_mode: 'agreement', agreement_id })
    await make('prefilled', { prefilled_cardholder_details: { cardholder_name: 'ann smith' } })
    await make('two', { reference: 'success', email: 'other@example.ORG' })
  })
  const newestFirst = () => Object.keys(payments).reverse()

  test('a payment search without filters finds all payments of the account, newest first, each as by GET, without the links that contain a token', async () => {
    assert.deepEqual(await found({}), newestFirst())
    const { body } = await api.get('/v1/payments')
    for (const item of body.results) {
      const { _links, ...rest } = await read(api, item)
      delete _links.next_url
      delete _links.next_url_post
      delete _links.auth_url_post
      assert.deepEqual(item, { ...rest, _links })
    }
  })

  const searches: Record<string, [query: Record<string, string>, names: string[]][]> = {
    'a payment search by state finds payments in that status': [
      [{ state: 'created' }, ['two', 'prefilled', 'created']],
      [{ state: 'started' }, ['started']],
      [{ state: 'submitted' }, []],
      [{ state: 'success' }, ['uses', 'sets up', 'amex', 'success']],
      [{ state: 'capturable' }, ['capturable']],
      [{ state: 'failed' }, ['declined moto', 'cancelled by the user', 'declined']],
      [{ state: 'error' }, ['error']],
      [{ state: 'cancelled' }, ['cancelled']],
    ],
    'a payment search by reference compares the whole text and ignores case': [
      [{ reference: 'success' }, ['two', 'success']],
      [{ reference: 'SUCCESS' }, ['two', 'success']],
      [{ reference: 'succes' }, []],
      [{ reference: 'success ' }, []],
      [{ reference: 'STRAßE 50%_OFF' }, ['started']],
      [{ reference: 'STRASSE 50%_OFF' }, ['started']],
      [{ reference: 'Straße%' }, []],
      [{ reference: 'x'.repeat(255) }, []],
    ],
    'a payment search by email compares parts of the text and ignores case': [
      [{ email: 'EXAMPLE.org' }, ['two', 'created']],
      [{ email: 'trader' }, ['created']],
      [{ email: 'a_b%C\\D' }, ['started']],
      [{ email: 'a%d' }, []],
      [{ email: 'a.b' }, []],
      [{ email: '_' }, ['started']],
      [{ email: '%' }, ['started']],
      [{ email: '\\' }, ['started']],
    ],
    'a payment search by cardholder_name compares parts of a prefilled or submitted name and ignores case':
      [
        [{ cardholder_name: 'ann' }, ['prefilled', 'amex']],
        [{ cardholder_name: 'ŵYN o’b' }, ['success']],
        [{ cardholder_name: 'σας' }, ['success']],
        [{ cardholder_name: 'ΣΑ' }, ['success']],
        [{ cardholder_name: 'demo card' }, ['uses', 'sets up', 'error', 'declined', 'capturable']],
        [{ cardholder_name: 'a'.repeat(5000) }, []],
      ],
    'a payment search by card_brand finds the ids of brands': [
      [
        { card_brand: 'visa' },
        ['uses', 'sets up', 'declined moto', 'error', 'declined', 'capturable', 'success'],
      ],
      [{ card_brand: 'american-express' }, ['amex']],
      [{ card_brand: 'master-card' }, []],
      [{ card_brand: 'Visa' }, []],
      [{ card_brand: 'American Express' }, []],
      [{ card_brand: 'x'.repeat(20) }, []],
    ],
    'a payment search by first and last digits finds the submitted card': [
      [{ first_digits_card_number: '371449' }, ['amex']],
      [{ last_digits_card_number: '8431' }, ['amex']],
      [{ last_digits_card_number: '0002' }, ['declined moto']],
      [{ first_digits_card_number: '424242', last_digits_card_number: '0002' }, []],
    ],
    'a payment search by settled date finds nothing, because no payment is ever settled': [
      [{ from_settled_date: '2000-01-01' }, []],
      [{ to_settled_date: '2100-01-01' }, []],
    ],
    'a payment search with several filters finds payments that match all of them': [
      [{ state: 'success', card_brand: 'american-express', cardholder_name: 'OTHER' }, ['amex']],
      [{ state: 'created', reference: 'success', email: 'other' }, ['two']],
      [{ state: 'failed', reference: 'success' }, []],
    ],
  }
  for (const [sentence, rows] of Object.entries(searches))
    test(sentence, async () => {
      for (const [query, names] of rows) {
        assert.deepEqual(await found(query), names, JSON.stringify(query).slice(0, 200))
      }
    })

  test('a payment search by agreement_id finds the payments that use the agreement or set it up', async () => {
    assert.deepEqual(await found({ agreement_id }), ['uses', 'sets up'])
    for (const unknown of [agreement_id.toUpperCase(), 'x', '0'.repeat(26)])
      assert.deepEqual(await found({ agreement_id: unknown }), [])
  })

  const at = (name: string, shift = 0) =>
    new Date(Date.parse(payments[name]?.created_date) + shift).toISOString()

  test('a payment search includes from_date and excludes to_date', async () => {
    const query = { from_date: at('error'), to_date: at('amex') }
    assert.deepEqual(await found(query), ['cancelled', 'cancelled by the user', 'error'])
    assert.deepEqual(await found({ from_date: at('two') }), ['two'])
    assert.deepEqual(await found({ from_date: at('two', 1) }), [])
    assert.deepEqual(await found({ to_date: at('created') }), [])
    assert.deepEqual(await found({ to_date: at('created', 1) }), ['created'])
    const all = { from_date: '0000-01-01T00:00:00Z', to_date: '9999-12-31T23:59:59.999Z' }
    assert.deepEqual(await found(all), newestFirst())
  })
})
