import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { meanings, onlyByPlan } from '../../src/core/codes.ts'
import { failureCodes } from '../../src/pay/payments/payment.ts'
import type { Body } from '../support/client.ts'
import { common, endpoints, others } from '../support/endpoints.ts'
import { onOneDatabase, startService } from '../support/service.ts'

onOneDatabase('OpenAPI: document', service => {
  let document: Body
  before(async () => {
    document = (await service().anonymous.get('/openapi.json')).body
  })

  /** The name ("POST /v1/payments") and the description of every operation. */
  const operations = (): [string, Body][] =>
    Object.entries<Body>(document.paths).flatMap(([path, item]) =>
      Object.entries<Body>(item)
        .filter(([method]) => method !== 'servers')
        .map(([method, operation]): [string, Body] => [
          `${method.toUpperCase()} ${path}`,
          operation,
        ]),
    )

  test('docs/reference.md lists every endpoint under /v1 and no other', () => {
    const documents = join(import.meta.dirname, '../../docs')
    const table = readFileSync(join(documents, 'reference.md'), 'utf8').match(/^\|.*$/gm) ?? []
    const named = table.flatMap(row => [...row.matchAll(/`([A-Z]+ \/v1\/[^`]+)`/g)])
    const shape = (name: string) => name.replaceAll(/\{\w+\}/g, '{}')
    const documented = named.map(([, name = '']) => shape(name)).sort()
    assert.deepEqual(documented, Object.keys(endpoints).map(shape).sort())
  })

  const resolved = (answer: Body): Body =>
    answer.$ref ? document.components.responses[answer.$ref.split('/').at(-1)] : answer

  const codesOf = (answer: Body): string =>
    (resolved(answer).content?.['application/json']?.schema.allOf?.[1].properties.code.enum ?? [])
      .toSorted()
      .join(' ')

  test('the document describes every endpoint and no other, with its statuses, each with its codes', () => {
    const expected = Object.entries(endpoints).map(([name, own]) => {
      const codes: Record<string, string> = { ...common, ...own }
      if (own[404]) codes[404] = `${own[404]} P0911`
      if (name === 'POST /v1/auth') delete codes[401]
      if (name.startsWith('GET ')) delete codes[413]
      for (const [status, text] of Object.entries(codes))
        codes[status] = text.split(' ').sort().join(' ')
      return [name, codes]
    })
    const described = operations().map(([name, { responses }]) => [
      name,
      name in others
        ? Object.keys(responses).sort().join(' ')
        : Object.fromEntries(
            Object.entries(responses).map(([status, answer]) => [status, codesOf(answer)]),
          ),
    ])
    assert.deepEqual(Object.fromEntries(described), { ...Object.fromEntries(expected), ...others })
  })

  test('the document has every field of the specification, also those that are never present here', () => {
    const { Payment, PaymentState, SettlementSummary, CardDetails } = document.components.schemas
    const neverPresent: [Body, string[]][] = [
      [Payment, ['corporate_card_surcharge', 'total_amount', 'exemption']],
      [PaymentState, ['can_retry']],
      [SettlementSummary, ['settled_date']],
      [CardDetails, ['wallet_type']],
    ]
    for (const [{ properties, required = [] }, names] of neverPresent)
      for (const name of names) {
        assert.match(properties[name].description, /[Nn]ever present here/)
        assert.ok(!required.includes(name))
      }
    assert.ok(Payment.properties.authorisation_mode.enum.includes('external'))
  })

  test('the document has an example of every error code of every answer', () => {
    for (const [name, { responses }] of operations())
      for (const [status, answer] of Object.entries<Body>(responses)) {
        const { examples = {} } = resolved(answer).content?.['application/json'] ?? {}
        const shown = Object.values<Body>(examples).map(({ value }) => value.code ?? '')
        const codes = [...new Set(shown)].sort().join(' ')
        if (codesOf(answer)) assert.equal(codes, codesOf(answer), `${name} ${status}`)
      }
  })

  test('the document lists every error code with its statuses and its meaning', () => {
    const { description } = document.tags.find(({ name }: Body) => name === 'Errors')
    const rows = new Map<string, string[]>(
      [...description.matchAll(/^\| `(P\d{4})` \| ([^|]+) \| ([^|]+) \|$/gm)].map(row => [
        row[1],
        [row[2], row[3]],
      ]),
    )
    const expected = new Map<string, Set<string>>()
    for (const errors of [...Object.values(endpoints), common])
      for (const [status, codes] of Object.entries(errors))
        for (const code of codes.split(' ').filter(Boolean))
          expected.set(code, (expected.get(code) ?? new Set()).add(status))
    for (const code of [...failureCodes, ...Object.keys(onlyByPlan)])
      if (!expected.has(code)) expected.set(code, new Set(['none']))
    assert.deepEqual([...rows.keys()].sort(), [...expected.keys()].sort())
    assert.deepEqual([...rows.keys()].sort(), Object.keys(meanings).sort())
    for (const [code, [statuses, meaning]] of rows) {
      assert.equal(statuses, [...(expected.get(code) ?? [])].sort().join(', '), code)
      assert.ok((meaning ?? '').length > 20, code)
    }
  })

  test('the document says which error codes are specific to Farthing, and that it is not affiliated', () => {
    const { description } = document.info
    assert.match(description, /P0910 to P0913 and P2700 to P2702 are Farthing's own/)
    assert.match(description, /compatible with GOV\.UK Pay's public API, and not affiliated/)
  })

  test('the document requires an API key for every endpoint under /v1 except /v1/auth', () => {
    for (const [name, { security }] of operations()) {
      const needsKey = name.includes(' /v1/') && name !== 'POST /v1/auth'
      assert.deepEqual(security, needsKey ? [{ bearer: [] }] : [], name)
    }
    assert.equal(document.components.securitySchemes.bearer.scheme, 'bearer')
  })

  test('every operation has an operationId, a summary and a tag that the document explains', () => {
    const ids = operations().map(([, { operationId }]) => operationId)
    assert.equal(new Set(ids).size, ids.length)
    const tags = document.tags.map(({ name }: Body) => name)
    for (const [name, operation] of operations()) {
      assert.ok(operation.summary, name)
      for (const tag of operation.tags) assert.ok(tags.includes(tag), name)
    }
    for (const { name, description } of document.tags) assert.ok(description, name)
  })

  test('the document describes the headers Location, WWW-Authenticate and Allow', () => {
    assert.ok(document.paths['/v1/payments'].post.responses[201].headers.Location.required)
    const { Unauthorised, MethodNotAllowed } = document.components.responses
    assert.ok(Unauthorised.headers['WWW-Authenticate'].required)
    assert.ok(MethodNotAllowed.headers.Allow.required)
  })

  test('the document lists the query parameters of a search in the order of its links', () => {
    const names = (path: string): string[] =>
      document.paths[path].get.parameters
        .filter((parameter: Body) => parameter.in === 'query')
        .map(({ name }: Body) => name)
    assert.deepEqual(names('/v1/agreements'), ['status', 'reference', 'page', 'display_size'])
    const times = ['from_date', 'to_date', 'from_settled_date', 'to_settled_date']
    const ofRefunds = [...times, 'page', 'display_size']
    assert.deepEqual(names('/v1/refunds'), ofRefunds)
    assert.deepEqual(names('/v1/disputes'), [...ofRefunds, 'status'])
    assert.deepEqual(names('/v1/webhooks/{webhook_id}/messages'), ['page', 'display_size'])
  })

  test('the document has the address of the request in its servers and examples, and no key', async () => {
    const headers = { Host: 'pay.test:8080' }
    const { body } = await service().anonymous.get('/openapi.json', headers)
    assert.equal(body.servers[0].url, 'http://pay.test:8080')
    assert.equal(body.paths['/secure'].servers[0].url, 'http://pay.test:8080')
    assert.doesNotMatch(JSON.stringify(body), /farthing\.example|api_test_/)
  })

  test('the document has the configured addresses of the API and of the pages', async () => {
    const env = {
      FARTHING_BASE_URL: 'https://api.example.org/farthing',
      FARTHING_PAGES_URL: 'https://pay.example.org',
    }
    const configured = await startService('sqlite', { env })
    try {
      const { body } = await configured.anonymous.get('/openapi.json')
      assert.equal(body.servers[0].url, env.FARTHING_BASE_URL)
      assert.equal(body.paths['/secure/{token}'].servers[0].url, env.FARTHING_PAGES_URL)
      const [example] = Object.values<Body>(
        body.paths['/v1/payments'].post.responses[201].content['application/json'].examples,
      )
      assert.match(example.value._links.self.href, /^https:\/\/api\.example\.org\/farthing\/v1\//)
      assert.match(example.value._links.next_url.href, /^https:\/\/pay\.example\.org\/secure\//)
    } finally {
      await configured.stop()
    }
  })

  test('the example of /assets/{name} is a file that is there', async () => {
    const [{ schema }] = document.paths['/assets/{name}'].get.parameters
    const { status } = await service().anonymous.get(`/assets/${schema.examples[0]}`)
    assert.equal(status, 200)
  })

  // openapi-examples.test.ts tests that the schemas allow every example.
  test('the schemas are valid JSON Schema 2020-12', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false })
    addFormats.default(ajv)
    for (const [name, schema] of Object.entries<Body>(document.components.schemas))
      assert.ok(ajv.validateSchema(schema), `${name}: ${ajv.errorsText(ajv.errors)}`)
  })

  test('the document describes webhook messages with a correct signature', () => {
    const { post } = document.webhooks.message
    const [{ value }] = Object.values<Body>(post.requestBody.content['application/json'].examples)
    assert.equal(value.event_type, 'card_payment_captured')
    const [, key = '', body = '', signature] =
      /signing_key `(\w+)` the body `([^`]+)` has the signature `(\w+)`/.exec(post.description) ??
      []
    assert.equal(createHmac('sha256', key).update(body).digest('hex'), signature)
  })
})
