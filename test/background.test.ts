import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { startWork } from '../src/app/background.ts'

test('Due payments that take long hold up no messages', async t => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const [endless, quick] = [mock.fn(() => new Promise<void>(() => {})), mock.fn(async () => {})]
  const deliveries = { recover: quick, doAllDue: quick }
  const time = { wall: Date.now }
  // The sweep fails without a database, which is reported.
  startWork({ deliveries, doAllDue: endless, time, inMemory: false, warn() {} } as never)
  for (let looks = 0; looks < 3; looks++) {
    t.mock.timers.tick(500)
    await setImmediate()
  }
  assert.deepEqual([endless.mock.callCount(), quick.mock.callCount()], [1, 1 + 3])
})
