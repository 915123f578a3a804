import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logs } from '../../../src/cli/logs.ts'
import { type Body, sendUnchecked } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { exchangeOf } from '../../support/described-exchange.ts'
import { controlDescriptionOf } from '../../support/description.ts'
import { onOneDatabase, startService } from '../../support/service.ts'

const operationsOf = ({ paths }: { paths: Record<string, Record<string, object>> }): string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )

/** Operations that control has only while it is switched on. A test that asks for one fails if it is not described. */
const STEERING =
  /\/control\/(accounts|clock|reset|payments|plans)\b|(GET|DELETE) \/control\/webhooks|\/control\/webhooks$/

onOneDatabase('The description of control', { control: true }, service => {
  test('the description of control lists what is switched on, and /openapi.json stays that of the API', async t => {
    const description = await controlDescriptionOf(service().baseUrl)
    assert.ok(description)
    const all = operationsOf(description.document)
    const text = JSON.stringify(description.document)
    assert.doesNotMatch(text, /docs\/\S+\.md/, 'the package has no such file')
    assert.ok(all.includes('GET /control/openapi.json'))
    const { parameters } = description.document.paths['/control/requests'].get
    const { schema } = parameters.find(({ name }: Body) => name === 'operation')
    assert.deepEqual(schema.enum, logs.options?.operation?.values, 'the shell completes all')
    const { body } = await service().anonymous.get('/openapi.json')
    assert.ok(!operationsOf(body).some(operation => operation.includes('/control')))
    const reading = await startService('sqlite')
    t.after(() => reading.stop())
    const described = await controlDescriptionOf(reading.baseUrl)
    const others = all.filter(name => !STEERING.test(name))
    assert.deepEqual(operationsOf(described?.document), others)
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
    const api = await service().newAccount()
    const control = await controlDescriptionOf(service().baseUrl)
    const { body: open } = await service().anonymous.get('/openapi.json')
    let checked = 0
    for (const { paths } of [open, control?.document])
      for (const [path, { get }] of Object.entries<Body>(paths))
        for (const { name, in: place, schema } of get?.parameters ?? []) {
          // A parameter of a path needs something that exists, and a wait takes its time.
          if (place !== 'query' || path.includes('{') || name === 'wait') continue
          const query = new URLSearchParams({ [name]: schema.examples[0] })
          const { status } = await sendUnchecked(`${service().baseUrl}${path}?${query}`, api)
          assert.equal(status, 200, `${path}?${query}`)
          checked += 1
        }
    assert.ok(checked > 40)
  })
})
