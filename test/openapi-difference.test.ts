import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../scripts/compare-openapi.ts'

const get = (responses: object, more: object = {}) => ({ get: { ...more, responses } })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })

const documentWith = (properties: object, more: object = {}) =>
  JSON.parse(
    JSON.stringify({
      paths: {
        '/v1/payments/{id}': get({ 200: json({ $ref: '#/components/schemas/Payment' }), 404: {} }),
        ...more,
      },
      components: { schemas: { Payment: { type: 'object', properties } } },
    }),
  )

const ours = documentWith({
  amount: { type: 'integer' },
  state: { type: 'object', properties: { status: { enum: ['created', 'success'] } } },
})

test('Two documents with the same facts have no differences, whatever their path parameters are called', () => {
  const text = JSON.stringify(ours).replaceAll('{id}', '{paymentId}')
  assert.deepEqual(compare(JSON.parse(text), ours, []), [])
})

test('A comparison names each operation, parameter, status, field and value that only one document has', () => {
  const theirs = documentWith(
    {
      amount: { type: 'integer' },
      fee: { type: 'object', properties: { amount: { type: 'integer' } } },
      state: {
        allOf: [{ type: 'object', properties: { status: { enum: ['created', 'failed'] } } }],
      },
    },
    { '/v1/refunds': get({ 200: {} }, { parameters: [{ in: 'query', name: 'page' }] }) },
  )
  assert.deepEqual(compare(theirs, ours, []), [
    'only GOV.UK Pay: GET /v1/payments/{} 200 fee',
    'only GOV.UK Pay: GET /v1/payments/{} 200 state.status is failed',
    'only GOV.UK Pay: GET /v1/refunds',
    'only Farthing: GET /v1/payments/{} 200 state.status is success',
  ])
})

test('A comparison leaves out known differences, and names those that are no longer there', () => {
  const theirs = documentWith({ amount: {}, state: {}, fee: {} })
  const known = [
    { fact: 'GET /v1/payments/{} 200 fee', only: 'GOV.UK Pay', reason: 'none is taken' },
    { fact: 'GET /v1/payments/{} 200 state', only: 'Farthing', reason: 'described there in words' },
    { fact: 'DELETE /v1/payments/{}', only: 'GOV.UK Pay', reason: 'it was once there' },
  ] as const
  assert.deepEqual(compare(theirs, ours, [...known]), [
    'no longer different, remove it from the known ones: only GOV.UK Pay: DELETE /v1/payments/{}',
  ])
})

/** Shapes of GOV.UK Pay's document: two schemas in one, a closed list, and an error without a list. */
const shapes = (error: object, more: object = {}) =>
  documentWith(
    {
      status: { allOf: [{ enum: ['created', 'failed'] }, { enum: ['created', 'success'] }] },
      mode: { anyOf: [{ enum: ['web'] }, { enum: ['moto'] }] },
    },
    Object.fromEntries(
      ['/v1/refunds', '/v1/agreements'].map(path => [
        path,
        get({ 200: {}, 404: json(error), ...more }),
      ]),
    ),
  )
const coded = (...codes: string[]) => ({ properties: { code: { enum: codes } } })

test('Of the lists in allOf the values count that are in all of them, and of those in anyOf all', () => {
  const theirs = documentWith({ status: {}, mode: {} }, shapes({}).paths)
  assert.deepEqual(compare(shapes({}), theirs, []), [
    'only GOV.UK Pay: GET /v1/payments/{} 200 status is created',
    'only GOV.UK Pay: GET /v1/payments/{} 200 mode is web',
    'only GOV.UK Pay: GET /v1/payments/{} 200 mode is moto',
  ])
  assert.deepEqual(compare(theirs, shapes({}), []), [], 'a list of ours says nothing of theirs')
})

test('The bodies of errors are compared once for all operations', () => {
  const theirs = shapes(coded('P1', 'P2'))
  const own = shapes({ allOf: [coded('P1', 'P3'), coded('P1')] })
  assert.deepEqual(compare(theirs, own, []), ['only GOV.UK Pay: error code is P2'])
  assert.deepEqual(compare(own, theirs, []), ['only Farthing: error code is P2'])
})

test('A known difference may stand for the same one of several operations', () => {
  const known = [{ fact: 'GET * 503', only: 'Farthing', reason: 'load' }] as const
  assert.deepEqual(compare(shapes({}), shapes({}, { 503: {} }), [...known]), [])
  assert.equal(compare(shapes({}), shapes({}, { 5031: {} }), [...known]).length, 3)
})

test('A comparison with a document that refers to itself, or has no paths, ends', () => {
  const theirs = documentWith({ amount: {}, parent: { $ref: '#/components/schemas/Payment' } })
  assert.match(compare(theirs, ours, []).join('\n'), /only GOV.UK Pay: \S+ \S+ 200 parent$/m)
  assert.deepEqual(compare(null, documentWith({}), []), ['only Farthing: GET /v1/payments/{}'])
})
