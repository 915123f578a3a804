import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { ExchangeBody, KeptBody } from '../../src/core/exchange.ts'
import { printBody, readBody } from '../../src/tools/recorder/stored-body.ts'
import { nastyText } from '../faults/hostile-values.ts'

const PAYMENT = '06h0vb36bnj7u1nf7770j82kk1'

/** Also what the short form uses itself. */
const text = fc
  .array(fc.oneof(nastyText, fc.constantFrom('^', '"', "'", '\\', PAYMENT, `${PAYMENT}…`)), {
    maxLength: 5,
  })
  .map(parts => parts.join(''))
const headers = fc.dictionary(text, text, { maxKeys: 2, noNullPrototype: true })
const kept = fc.record<KeptBody, 'text'>(
  { text, cut: fc.nat(), base64: fc.constant(true as const) },
  { requiredKeys: ['text'], noNullPrototype: true },
)
const bodies: fc.Arbitrary<ExchangeBody> = fc.record(
  {
    at: fc.nat(),
    method: text,
    path: text,
    query: text,
    ms: fc.nat(),
    request_headers: headers,
    response_headers: headers,
    reference: text,
    request_body: kept,
    response_body: kept,
    ended: fc.constantFrom('sent' as const, 'gone' as const, 'replaced' as const, 'reset' as const),
  },
  {
    noNullPrototype: true,
    requiredKeys: [
      ...(['at', 'method', 'path', 'query', 'ms'] as const),
      ...(['request_headers', 'response_headers', 'ended'] as const),
    ],
  },
)

describe('The stored form of an exchange', () => {
  test('reads as what was stored, whatever the texts hold', () => {
    fc.assert(
      fc.property(bodies, fc.constantFrom(PAYMENT, null), (body, payment_id) => {
        assert.deepEqual(readBody(printBody(body, payment_id), payment_id), body)
      }),
      { numRuns: 500 },
    )
  })

  test('is read also if an earlier version wrote it, with every field and with escaped bodies', () => {
    const body: ExchangeBody = {
      at: 1,
      method: 'POST',
      path: '/v1/payments',
      query: '',
      ms: 2,
      ended: 'sent',
      request_headers: {},
      response_headers: { location: '^' },
      response_body: { text: `{"payment_id":"${PAYMENT}"}`, cut: 9_000 },
    }
    assert.deepEqual(readBody(JSON.stringify(body), PAYMENT), body)
  })

  test('escapes no quotes of JSON, and has the identifier of its payment nowhere', () => {
    const body: ExchangeBody = {
      at: 1,
      method: 'GET',
      path: `/v1/payments/${PAYMENT}`,
      query: '',
      ms: 2,
      ended: 'sent',
      request_headers: {},
      response_headers: {},
      response_body: { text: `{"payment_id":"${PAYMENT}"}` },
    }
    assert.equal(
      printBody(body, PAYMENT),
      `^{"at":1,"method":"GET","path":"/v1/payments/^","ms":2,"response_body":{"swapped":"{'payment_id':'^'}"}}`,
    )
  })
})
