import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { onOneDatabase } from '../../support/service.ts'

// test/domain/search-page.test.ts has more wrong times.
const wrongTimes = ['2026-09-14', '2026-02-29T00:00:00Z', '2026-09-14T08:20:31 01:00', 'now']
const wrongDates = ['2026-02-29', '2026-9-1', '2026-09-14T00:00:00Z', 'x']

/** Wrong values of each parameter, in the order in which error texts and links list the parameters. */
const wrong: Record<string, string[]> = {
  state: ['Created', 'SUCCESS', 'created,started', 'all', 'timedout'],
  reference: ['x'.repeat(256)],
  email: ['x'.repeat(255)],
  card_brand: ['x'.repeat(21)],
  cardholder_name: [],
  agreement_id: [],
  from_date: wrongTimes,
  to_date: wrongTimes,
  page: ['0', '-1', '+1', '1.0', '1e3', 'x', '2147483648', '99999999999999999999', '１', '1 '],
  display_size: ['0', '501', '-1', '1.5', 'x', ' 5'],
  first_digits_card_number: ['42424', '4242424', '42424x', '42 4242', '４２４２４２'],
  last_digits_card_number: ['424', '42424', '424x'],
  from_settled_date: wrongDates,
  to_settled_date: wrongDates,
}

const NAMES = Object.keys(wrong)

onOneDatabase('Payments: search parameters', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
    await Promise.all(Array.from({ length: 7 }, () => api.createPayment()))
  })
  const search = (query: string | Record<string, string> | [string, string][]) =>
    api.get(`/v1/payments?${new URLSearchParams(query)}`)

  test('a payment search returns 422 P0401 for parameters that are not percent-encoded UTF-8', async () => {
    for (const value of ['%ED%A0%80', '%E9', 'a%20%zz', '%'])
      for (const query of [`reference=${value}`, `page=1&email=${value}&page=2`]) {
        const answer = await api.get(`/v1/payments?${query}`)
        assertError(answer, 422, 'P0401')
        assert.match(answer.body.description, /: \w+ must be text in percent-encoded UTF-8/)
      }
    assert.equal((await api.get('/v1/payments?unknown=%E9&%E9=1')).status, 200)
    assertError(await api.get(`/v1/payments?${'a&'.repeat(2_000)}page=0`), 422, 'P0401')
  })

  test('the description lists the parameters of a payment search in the order of its links', async () => {
    const { paths } = (await api.get('/openapi.json')).body
    const described = paths['/v1/payments'].get.parameters.map(({ name }: Body) => name)
    assert.deepEqual(described, NAMES)
  })

  for (const name of NAMES)
    test(`a payment search returns 422 P0401 for a wrong ${name}`, async () => {
      for (const value of [...(wrong[name] ?? []), 'a\0', '\0']) {
        const answer = await search({ [name]: value })
        assertError(answer, 422, 'P0401')
        assert.match(answer.body.description, new RegExp(`\\b${name}\\b`), value)
      }
    })

  test('the error of a payment search lists all wrong parameters in their order, and says what each must be', async () => {
    const email = 'e'.repeat(255)
    const { body } = await search({ state: 'paid', email, page: '0', from_settled_date: 'x' })
    assert.equal(
      body.description,
      'the query cannot be used: state must be one of created, started, submitted, success, capturable, ' +
        'failed, error, cancelled; email must be text of at most 254 characters; ' +
        'page must be a whole number from 1 to 2147483647; from_settled_date must be a day such as 2026-09-14',
    )
    const parts = NAMES.map((name): [string, string] => [name, wrong[name]?.[0] ?? '\0'])
    const answer = await search(parts.reverse())
    assertError(answer, 422, 'P0401')
    const named = [...answer.body.description.matchAll(/(\w+) must be/g)].map(([, name]) => name)
    assert.deepEqual(named, NAMES)
  })

  test('a payment search accepts the longest texts and the largest numbers', async () => {
    for (const query of [
      { reference: 'x'.repeat(255) },
      { email: 'x'.repeat(254) },
      { card_brand: 'x'.repeat(20) },
      { agreement_id: 'x'.repeat(5000) },
      { display_size: '500' },
      { display_size: '0500' },
      { page: '1', display_size: '1' },
      { page: '2147483647', state: 'error', display_size: '500' },
    ])
      assert.equal((await search(query)).status, 200, JSON.stringify(query).slice(0, 80))
  })

  test('a payment search ignores blank and unknown parameters, and leaves them out of links', async () => {
    const unknown = ['limit', 'Page', 'payment_id', '__proto__', 'constructor', 'status', 'page[]']
    const queries = [
      ...NAMES.flatMap(name => ['', ' ', '\t '].map(value => [[name, value]])),
      unknown.map(name => [name, 'x']),
    ] as [string, string][][]
    for (const query of queries) {
      const { status, body, text } = await search(query)
      assert.equal(status, 200, `${query}: ${text}`)
      assert.equal(body.total, 7)
      const { href } = body._links.self
      assert.equal(href, `${service().baseUrl}/v1/payments?page=1&display_size=500`)
    }
    assert.equal((await api.get('/v1/payments?page')).body.total, 7)
  })

  test('a payment search uses the first value of a repeated parameter', async () => {
    const twice = await search('page=2&page=x&display_size=3&display_size=')
    assert.equal(twice.status, 200)
    assert.equal(twice.body.page, 2)
    const first = await search('page=&page=2&display_size=2')
    assert.equal(first.body.page, 1)
    assertError(await search('page=x&page=1'), 422, 'P0401')
  })

  test('the links of a payment search contain its filters, percent-encoded and in order', async () => {
    const values: Record<string, string> = {
      state: 'error',
      reference: 'a b&c=d/é?#%+"\'',
      email: '😀@x',
      card_brand: 'visa',
      cardholder_name: ' A ',
      agreement_id: 'x+y',
      from_date: '2026-09-14T09:20:31+01:00',
      to_date: '2026-09-15T00:00:00.000Z',
      page: '007',
      display_size: '020',
      first_digits_card_number: '424242',
      last_digits_card_number: '0002',
      from_settled_date: '2026-09-14',
      to_settled_date: '2026-09-15',
    }
    const parts = Object.entries(values).reverse()
    const { status, body, text } = await search(parts)
    assert.equal(status, 200, text)
    const { href } = body._links.self
    const filters = NAMES.filter(name => name !== 'page' && name !== 'display_size')
    const names = [...filters, 'page', 'display_size']
    assert.ok(href.startsWith(`${service().baseUrl}/v1/payments?`))
    const read = [...new URL(href).searchParams]
    assert.deepEqual(
      read,
      names.map(name => [name, { page: '7', display_size: '20' }[name] ?? values[name]]),
    )
    assert.doesNotMatch(href.split('?')[1], /[ "<>é😀+#]/u)
    assert.equal((await api.get(href)).text, text)
  })
})
