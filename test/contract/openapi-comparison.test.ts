import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { exchangeOf } from '../support/described-exchange.ts'
import { type Description, descriptionOf, type Exchange } from '../support/description.ts'
import { onOneDatabase } from '../support/service.ts'

onOneDatabase('OpenAPI: comparison of answers with the document', service => {
  let check: Description['check']
  before(async () => {
    check = (await descriptionOf(service().baseUrl)).check
  })

  const error = { code: 'P2200', description: 'no such agreement' }
  const name = 'GET /v1/agreements/{agreement_id}'

  test('the comparison accepts answers that the document describes', () => {
    check(exchangeOf(name, 404, error))
    check(exchangeOf('GET /v1/nothing', 404, { ...error, code: 'P0911' }))
    check(exchangeOf('PUT /v1/agreements', 405, { ...error, code: 'P0912' }))
  })

  const faults: [title: string, fault: () => Exchange, complaint: RegExp][] = [
    ['an unknown status', () => exchangeOf(name, 409, error), /does not describe the answer 409/],
    [
      'an unknown code',
      () => exchangeOf(name, 404, { ...error, code: 'P2500' }),
      /code must be equal to one/,
    ],
    [
      'an unknown key',
      () => exchangeOf(name, 404, { ...error, feild: 'x' }),
      /unevaluated properties/,
    ],
    ['a missing key', () => exchangeOf(name, 404, { code: 'P2200' }), /required property/],
    ['an unknown path', () => exchangeOf('GET /v1/nothing', 200, error), /does not describe/],
    ['an unknown method', () => exchangeOf('PUT /v1/agreements', 200, error), /does not describe/],
    [
      'a missing header',
      () => {
        const exchange = exchangeOf(name, 401, { ...error, code: 'P0910' })
        exchange.headers.delete('WWW-Authenticate')
        return exchange
      },
      /no header WWW-Authenticate/,
    ],
    [
      'an unknown media type',
      () => {
        const exchange = exchangeOf(name, 404, error)
        exchange.headers.set('Content-Type', 'text/html')
        return exchange
      },
      /has the type text\/html/,
    ],
    ['an unexpected body', () => exchangeOf('DELETE /v1/webhooks/x', 204, {}), /has a body/],
    [
      'an accepted request that the document does not allow',
      () => ({ ...exchangeOf('POST /v1/auth', 204, ''), text: '', sent: '{"cvc":"123"}' }),
      /the body of POST .* required property/s,
    ],
  ]
  for (const [title, fault, complaint] of faults)
    test(`the comparison refuses ${title}`, () => {
      assert.throws(() => check(fault()), { code: 'ERR_ASSERTION', message: complaint })
    })
})
