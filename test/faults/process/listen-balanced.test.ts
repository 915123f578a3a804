import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEADLINE_MS } from '../../../src/platform/outbound/send.ts'
import { listenThroughBalancer } from '../../support/listened.ts'

test('farthing listen behind a balancer with two instances receives every message once', async () => {
  const { arrived, different, times } = await listenThroughBalancer({ count: 30, clients: 3 })
  assert.equal(different, 30)
  // On a slow machine a first attempt may time out: the request then waits for a second, so the message comes twice.
  const repeated = times.filter(ms => ms >= DEADLINE_MS).length
  assert.ok(arrived <= 30 + repeated, `${arrived} arrived, ${repeated} of them may have come twice`)
})
