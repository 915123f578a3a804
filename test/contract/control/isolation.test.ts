import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { test } from 'node:test'
import { HELD_WAITS, LONGEST_WAIT_MS, TEST_ACCOUNTS } from '../../../src/core/budgets.ts'
import { briefOf } from '../../support/assertions.ts'
import { type Body, sendUnchecked, webPayment } from '../../support/client.ts'
import { ask, asking, testAccount } from '../../support/control.ts'
import { controlDescriptionOf } from '../../support/description.ts'
import { payOnPages } from '../../support/journeys.ts'
import { onOneDatabase, onSharedDatabases, startService } from '../../support/service.ts'
import { holdTimers } from '../../support/time.ts'

/** Requests that wait, each on its own connection. The keys take turns. */
function waitsOf(url: string, count: number, ...keys: (string | undefined)[]) {
  const requests = Array.from({ length: count }, (_, i) =>
    http.get(`${url}/control/payments?status=success&wait=${LONGEST_WAIT_MS}`, {
      agent: false,
      headers: { Authorization: `Bearer ${keys[i % keys.length]}` },
    }),
  )
  const statuses = requests.map(request =>
    once(request, 'response').then(
      ([response]): number => response.resume().statusCode,
      () => 0,
    ),
  )
  return { requests, statuses }
}

onSharedDatabases('What control keeps apart', { control: true }, service => {
  const control = asking(service)

  test('an account has 10,000 test accounts at a time: one more is 422 until one has ended', async () => {
    const { name, api } = await service().namedAccount()
    const last = await testAccount(service(), api)
    const { expires } = (await control(api, 'accounts')).body.results[0]
    await service().database.write([
      {
        sql: `insert into accounts (name, room, clock_offset, parent, expires)
            with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < $2)
            select $1 || '.' || i, $1 || '.' || i, 0, $1, cast($3 as bigint) from numbers`,
        values: [name, TEST_ACCOUNTS - 2, Date.parse(expires)],
      },
    ])
    await testAccount(service(), api)
    assert.equal(briefOf(await control(api, 'accounts', {})), '422 C0429')
    await control(api, `accounts/${last.account}`, undefined, 'DELETE')
    assert.equal((await control(api, 'accounts', {})).status, 201)
  })

  test('no key reaches anything of another account, be it parent, child or sibling', async () => {
    const parent = await service().newAccount()
    const child = await testAccount(service(), parent)
    const sibling = await testAccount(service(), parent)
    const { body: webhook } = await child.api.post('/v1/webhooks', {
      callback_url: 'https://hooks.example.org/',
    })
    const open = await child.api.createPayment()
    await payOnPages(child.api, await child.api.createPayment())
    const { body: plan } = await control(child.api, 'plans', { delay: 0 })
    const { body: listener } = await control(child.api, 'listeners', { name: 'laptop' })
    const [message] = (await control(child.api, 'messages')).body.results
    assert.equal(message.webhook_id, webhook.external_id)
    const { payment_id } = open
    const ids: Body = { ...plan, ...message, payment_id }
    const attempt = { attempt_id: 'x', status_code: 200, result: '200 OK' }
    const description = await controlDescriptionOf(service().baseUrl)
    for (const stranger of [parent, sibling.api]) {
      const planned = await control(stranger, 'plans', { reset: true, payment_id })
      assert.equal(planned.status, 404)
      for (const [template, methods] of Object.entries<object>(description?.document.paths)) {
        // A parent may end its test account.
        if (!template.includes('{') || template.includes('{account}')) continue
        const known = template.includes('/listeners/') ? listener : ids
        const path = template.replace(/\{(\w+)\}/, (_, name) => known[name])
        const body = path.endsWith('/results') ? attempt : {}
        for (const method of Object.keys(methods).map(each => each.toUpperCase())) {
          const sent = method === 'POST' ? body : undefined
          const { status } = await control(stranger, path.slice('/control/'.length), sent, method)
          assert.equal(status, 404, `${method} ${template}`)
        }
      }
      for (const path of ['payments', 'plans', 'requests', 'messages', 'webhooks']) {
        const query = path === 'payments' ? `?payment_id=${payment_id}` : ''
        assert.deepEqual((await control(stranger, path + query)).body.results, [], path)
      }
      assert.equal((await control(stranger, 'check')).body.kept, 0)
      assert.equal((await stranger.get(open._links.self.href)).status, 404)
    }
    assert.equal((await control(child.api, '')).body.plans, 1)
    assert.equal((await child.api.get(open._links.self.href)).body.state.status, 'created')
  })
})

// Each instance counts waits in its own memory.
onOneDatabase('Waits and the places that they take', { control: true }, service => {
  test('an account and its test accounts have 200 waits, a client that leaves ends its own, and a thousand waits keep nobody else from a place', async t => {
    holdTimers(t, LONGEST_WAIT_MS - 1, LONGEST_WAIT_MS)
    const { baseUrl } = service()
    const api = await service().newAccount()
    const { body: child } = await ask(service(), api, 'accounts', {})
    const left = waitsOf(baseUrl, HELD_WAITS + 1, api.key, child.key)
    const ends = left.statuses.map(async (status, place) => ({ status: await status, place }))
    const { status, place } = await Promise.race(ends)
    assert.equal(status, 503)
    const wait = () =>
      sendUnchecked(`${baseUrl}/control/payments?status=success&wait=1`, { key: api.key })
    assert.equal((await wait()).status, 503)
    const [stays = assert.fail(), ...leave] = left.requests.filter((_, i) => i !== place)
    const answers: unknown[] = []
    stays.once('response', answer => answers.push(answer))
    for (const request of leave) request.destroy()
    while ((await wait()).status !== 200);
    assert.deepEqual(answers, [], 'there was a place before the wait that began first was over')
    stays.destroy()
    // The limit of requests in flight is 1,000 for each instance.
    const accounts = await Promise.all(Array.from({ length: 6 }, () => service().newAccount()))
    const waits = accounts.map(({ key }) => waitsOf(baseUrl, HELD_WAITS - 1, key))
    const [parent = api] = accounts
    const answered = Promise.race(waits.flatMap(({ statuses }) => statuses))
    const made = await parent.createPayment()
    assert.equal(made.state.status, 'created')
    for (const { requests } of waits) for (const request of requests) request.destroy()
    assert.equal(await answered, 0, 'none was answered before its client left')
  })
})

test('a stop of the service ends waits and requests that plans hold, with their answers', async () => {
  const service = await startService('sqlite', { control: true })
  const api = await service.newAccount()
  for (const when of ['before', 'after'])
    await ask(service, api, 'plans', { on: 'createPayment', when, delay: 60_000 })
  const post = { key: api.key, method: 'POST', json: webPayment }
  const create = () => sendUnchecked(`${service.baseUrl}/v1/payments`, post)
  const held = [create(), create()]
  const wait = waitsOf(service.baseUrl, 1, api.key)
  const acted = async () => (await ask(service, api, 'plans')).body.results
  while ((await acted()).some((each: { acted: number }) => each.acted === 0));
  await service.stop()
  for (const { status } of await Promise.all(held)) assert.equal(status, 201)
  assert.deepEqual(await Promise.all(wait.statuses), [200])
})
