import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { recordExamples } from '../../scripts/write-examples.ts'
import type { Body } from '../support/client.ts'
import { exchangeOf } from '../support/described-exchange.ts'
import { controlDescriptionOf, descriptionOf } from '../support/description.ts'
import { onOneDatabase } from '../support/service.ts'

const FILE = new URL('../../src/app/docs/examples/recorded.json', import.meta.url)

/** These operations return the documents themselves. */
const WITHOUT = ['readDescription', 'readControlDescription']

test('src/app/docs/examples/recorded.json is what the service receives and returns; `npm run examples` writes it anew', async () => {
  assert.equal(await recordExamples(), readFileSync(FILE, 'utf8'))
})

onOneDatabase('OpenAPI: examples', { control: true }, service => {
  for (const [path, descriptionAt] of [
    ['/openapi.json', descriptionOf],
    ['/openapi.json of govuk-pay', (url: string) => descriptionOf(url, 'govuk-pay')],
    ['/control/openapi.json', controlDescriptionOf],
  ] as const)
    test(`every body and every parameter of a path in ${path} has an example that its schema allows`, async () => {
      const description = await descriptionAt(service().baseUrl)
      assert.ok(description)
      const { document, check } = description
      const missing: string[] = []
      for (const [path, methods] of Object.entries<Body>(document.paths))
        for (const [method, operation] of Object.entries<Body>(methods)) {
          const { operationId, parameters = [], requestBody, responses } = operation
          if (method === 'servers' || WITHOUT.includes(operationId)) continue
          const name = `${method.toUpperCase()} ${path}`
          for (const { in: place, name, schema } of parameters)
            if (place === 'path' && !schema.examples) missing.push(`${operationId} ${name}`)
          for (const [type, { examples }] of Object.entries<Body>(requestBody?.content ?? {}))
            if (!examples) missing.push(`${operationId} ${type}`)
          for (const [status, { $ref, ...own }] of Object.entries<Body>(responses)) {
            const response = $ref ? document.components.responses[$ref.split('/').at(-1)] : own
            const json = response.content?.['application/json']
            if (json && !json.examples) missing.push(`${operationId} ${status}`)
            const requests = requestBody?.content['application/json']?.examples ?? {}
            for (const [key, { value, summary }] of Object.entries<Body>(json?.examples ?? {})) {
              if (value.code) assert.ok(response.description.includes(summary), summary)
              const sent = requests[key] && JSON.stringify(requests[key].value)
              check({ ...exchangeOf(name, Number(status), value), sent })
            }
          }
        }
      assert.deepEqual(missing, [])
    })

  // control/description.test.ts tests a field that is not described, a missing field, and a status.
  test('an answer with the code of another operation or without a header, and a request that ought to be refused, differ from the description', async () => {
    const { check } = await descriptionOf(service().baseUrl)
    const name = 'GET /v1/agreements/{agreement_id}'
    const error = { code: 'P2500', description: 'no such agreement' }
    assert.throws(() => check(exchangeOf(name, 404, error)), /code must be equal to one/)
    const unauthorised = exchangeOf(name, 401, { ...error, code: 'P0910' })
    unauthorised.headers.delete('WWW-Authenticate')
    assert.throws(() => check(unauthorised), /no header WWW-Authenticate/)
    const taken = { ...exchangeOf('POST /v1/auth', 204, ''), text: '', sent: '{"cvc":"123"}' }
    assert.throws(() => check(taken), /the body of POST .* required property/s)
  })
})
