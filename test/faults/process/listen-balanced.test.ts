import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listenThroughBalancer } from '../../support/listened.ts'

test('farthing listen behind a balancer with two instances receives every message once', async () => {
  const { arrived, different } = await listenThroughBalancer({ count: 30, clients: 3 })
  assert.deepEqual({ arrived, different }, { arrived: 30, different: 30 })
})
