import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isExpired } from '../../src/pay/differences/values.ts'

test('an expiry date is over half a day after its month, so that no time zone makes a difference', () => {
  for (const [now, expected] of [
    ['2026-08-31T23:59:59.999Z', false],
    ['2026-09-01T11:59:59.999Z', false],
    ['2026-09-01T12:00:00.000Z', true],
  ] as const)
    assert.equal(isExpired('08/26', Date.parse(now)), expected, now)
})
