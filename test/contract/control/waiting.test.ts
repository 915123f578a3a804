import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { HELD_WAITS, LONGEST_WAIT_MS, RECORD_READERS } from '../../../src/core/budgets.ts'
import { LONGEST_REQUEST } from '../../../src/pay/webhooks/listener.ts'
import { briefOf } from '../../support/assertions.ts'
import { sendUnchecked } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { flush } from '../../support/record.ts'
import { onOneDatabase, onSharedDatabases, START } from '../../support/service.ts'
import { holdTimers } from '../../support/time.ts'
import { mockQueries } from '../../support/watched.ts'

const NEVER = 599
/** A query with the first digits of an identifier reads only newer rows. */
const BEGIN = /^[0-9a-v]{10}/

onSharedDatabases('Requests that wait', { control: true }, service => {
  test('equal waits share their reads, and after the first read only newer rows', async t => {
    const { database, baseUrl } = service()
    const api = await service().newAccount()
    await api.get('/v1/agreements')
    await flush(service())
    const seen: string[][] = []
    mockQueries(t, database, (query, values) => {
      if (values.includes(NEVER)) seen.push(values.map(String))
      return query()
    })
    const wait = (filter: string) => sendUnchecked(`${baseUrl}/control/requests?${filter}`, api)
    const idle = Array.from({ length: 20 }, () => wait(`status=${NEVER}&wait=2000`))
    while (seen.length === 0) await setTimeout(5)
    await api.get('/v1/agreements')
    await flush(service())
    for (const { body } of await Promise.all(idle)) assert.deepEqual(body.results, [])
    const newer = seen.filter(values => values.some(value => BEGIN.test(value)))
    assert.ok(newer.length > 0)
    const whole = seen.length - newer.length
    assert.ok(whole <= RECORD_READERS + 1, `${whole} looks at all of the record`)
  })

  test('waits that have found nothing share one read', async t => {
    holdTimers(t, LONGEST_WAIT_MS - 1, LONGEST_WAIT_MS)
    const { database, baseUrl } = service()
    const { name, api } = await service().namedAccount()
    let [shared, own] = [0, 0]
    mockQueries(t, database, (query, values) => {
      // The shared query has the accounts of all waits after the times since which something may be new.
      if (values[0] === name) own += 1
      else if (values.includes(name)) shared += 1
      return query()
    })
    const ending = new AbortController()
    const waits = Array.from({ length: 30 }, async (_, i) => {
      const url = `${baseUrl}/control/payments?reference=R-${i}&wait=10000`
      const headers = { Authorization: `Bearer ${api.key}` }
      const answer = await fetch(url, { headers, signal: ending.signal })
      assert.deepEqual(await answer.json(), { results: [] })
    })
    while (own < waits.length) await setTimeout(20)
    // Each wait looks once more after the first shared look.
    for (let before = 0; before !== own; ) {
      before = own
      for (const until = shared + 2; shared < until; ) await setTimeout(20)
    }
    ending.abort()
    for (const { status } of await Promise.allSettled(waits)) assert.equal(status, 'rejected')
  })

  test('a recorded request wakes all that wait for it', async t => {
    holdTimers(t, LONGEST_WAIT_MS - 1, LONGEST_WAIT_MS)
    const api = await service().newAccount()
    const url = `${service().baseUrl}/control/requests?status=404&wait=10000&limit=`
    const waits = Array.from({ length: 10 }, (_, i) => sendUnchecked(url + (1 + (i % 2)), api))
    await api.get('/v1/payments/unknown')
    for (const { body } of await Promise.all(waits)) assert.equal(body.results[0]?.status, 404)
  })
})

// Each instance counts waits in its own memory.
onOneDatabase('The places of requests that wait', { control: true }, service => {
  test('a read that has begun keeps its place after the end of its wait, so that reads do not pile up', async t => {
    holdTimers(t, LONGEST_WAIT_MS, LONGEST_REQUEST) // no read may give up its turn
    const { database, baseUrl } = service()
    const api = await service().newAccount()
    const looks = Promise.withResolvers<void>()
    t.after(() => looks.resolve())
    mockQueries(t, database, async (query, values) => {
      if (values.some(value => String(value).startsWith('r-'))) await looks.promise
      return query()
    })
    const headers = { Authorization: `Bearer ${api.key}` }
    const wait = (reference: string) =>
      fetch(`${baseUrl}/control/requests?reference=${reference}&wait=1`, { headers })
    const waits = await Promise.all(Array.from({ length: HELD_WAITS }, (_, i) => wait(`R-${i}`)))
    assert.deepEqual(new Set(waits.map(({ status }) => status)), new Set([200]))
    assert.equal((await wait('one-more')).status, 503)
    looks.resolve()
    while ((await wait('later')).status === 503) await setImmediate()
  })

  test('the requests of listeners count among the 200 waits of an account, and read one at a time', async t => {
    holdTimers(t, LONGEST_WAIT_MS, LONGEST_REQUEST) // nor may a wait end
    const api = await service().newAccount()
    const { body } = await ask(service(), api, 'listeners', { name: 'a' })
    let [looking, most] = [0, 0]
    mockQueries(t, service().database, (query, values) => {
      // Only a look for an attempt has this moment among its values.
      if (!values.includes(body.webhook_id) || !values.includes(START)) return query()
      most = Math.max(most, ++looking)
      return query().finally(() => {
        looking -= 1
      })
    })
    const url = `${service().baseUrl}/control/listeners/${body.webhook_id}`
    const waits = Array.from({ length: HELD_WAITS + 1 }, () => sendUnchecked(`${url}/next`, api))
    assert.equal(briefOf(await Promise.race(waits)), '503 C0429')
    await sendUnchecked(url, { key: api.key, method: 'DELETE' })
    const statuses = await Promise.all(waits.map(async each => (await each).status))
    assert.deepEqual(statuses.sort(), [...Array(HELD_WAITS).fill(200), 503])
    assert.equal(most, 1)
  })
})
