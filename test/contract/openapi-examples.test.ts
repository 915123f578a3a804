import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { recordExamples } from '../../scripts/write-examples.ts'
import type { Body } from '../support/client.ts'
import { exchangeOf } from '../support/described-exchange.ts'
import { controlDescriptionOf, descriptionOf } from '../support/description.ts'
import { onOneDatabase } from '../support/service.ts'

const FILE = new URL('../../src/app/docs/examples/recorded.json', import.meta.url)

/** They return the documents themselves. */
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
          const isAtPath = (parameter: Body) => parameter.in === 'path'
          for (const { name, schema } of parameters.filter(isAtPath))
            if (!schema.examples) missing.push(`${operationId} ${name}`)
          for (const [type, { examples }] of Object.entries<Body>(requestBody?.content ?? {}))
            if (!examples) missing.push(`${operationId} ${type}`)
          for (const [status, { content }] of Object.entries<Body>(responses)) {
            const json = content?.['application/json']
            if (json && !json.examples) missing.push(`${operationId} ${status}`)
            if (Number(status) >= 300) continue
            const requests = requestBody?.content['application/json']?.examples ?? {}
            for (const [key, { value }] of Object.entries<Body>(json?.examples ?? {})) {
              const sent = requests[key] && JSON.stringify(requests[key].value)
              check({ ...exchangeOf(name, Number(status), value), sent })
            }
          }
        }
      assert.deepEqual(missing, [])
    })
})
