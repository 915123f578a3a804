import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logs } from '../../../src/cli/logs.ts'
import type { Body } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { exchangeOf } from '../../support/described-exchange.ts'
import { controlDescriptionOf } from '../../support/description.ts'
import { onOneDatabase, startService } from '../../support/service.ts'

const operationsOf = ({ paths }: { paths: Record<string, Record<string, object>> }): string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )

/** What only control that is switched on has. Each test that asks for one fails if it is not described. */
const STEERING =
  /\/control\/(accounts|clock|reset|payments|plans)\b|(GET|DELETE) \/control\/webhooks|\/control\/webhooks$/

onOneDatabase('The description of control', { control: true }, service => {
  test('the description of control lists what is switched on, and /openapi.json stays that of the API', async t => {
    const description = await controlDescriptionOf(service().baseUrl)
    assert.ok(description)
    const all = operationsOf(description.document)
    assert.doesNotMatch(
      JSON.stringify(description.document),
      /docs\/\S+\.md/,
      'the package has no such file',
    )
    assert.ok(all.includes('GET /control/openapi.json'))
    const { parameters } = description.document.paths['/control/requests'].get
    assert.deepEqual(
      parameters.find(({ name }: { name: string }) => name === 'operation').schema.enum,
      logs.options?.operation?.values,
      'the shell completes all operations',
    )
    const { body } = await service().anonymous.get('/openapi.json')
    assert.deepEqual(
      operationsOf(body).filter(operation => operation.includes('/control')),
      [],
    )
    const reading = await startService('sqlite')
    t.after(() => reading.stop())
    const described = await controlDescriptionOf(reading.baseUrl)
    assert.deepEqual(
      operationsOf(described?.document),
      all.filter(name => !STEERING.test(name)),
    )
  })

  test('a response with an undescribed field or status differs from the description', async () => {
    const description = await controlDescriptionOf(service().baseUrl)
    const { body: clock } = await ask(service(), await service().newAccount(), 'clock')
    const check = (status: number, value: object) => () =>
      description?.check(exchangeOf('GET /control/clock', status, value))
    assert.doesNotThrow(check(200, clock))
    assert.throws(check(200, { ...clock, zone: 'UTC' }), /zone|must NOT/)
    assert.throws(check(200, { now: clock.now }), /frozen/)
    assert.throws(check(402, clock), /does not describe/)
  })

  test('each query parameter of both descriptions has an example, which the service takes', async () => {
    const headers = { Authorization: `Bearer ${(await service().newAccount()).key}` }
    const control = await controlDescriptionOf(service().baseUrl)
    const { body: open } = await service().anonymous.get('/openapi.json')
    let checked = 0
    for (const { paths } of [open, control?.document])
      for (const [path, { get }] of Object.entries<Body>(paths))
        for (const { name, in: place, schema } of get?.parameters ?? []) {
          // Those of a path need something that exists, and a wait takes its time.
          if (place !== 'query' || path.includes('{') || name === 'wait') continue
          const query = new URLSearchParams({ [name]: schema.examples[0] })
          const { status } = await fetch(`${service().baseUrl}${path}?${query}`, { headers })
          assert.equal(status, 200, `${path}?${query}`)
          checked += 1
        }
    assert.ok(checked > 40)
  })
})
