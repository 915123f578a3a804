import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inDigits, inPounds } from '../../src/core/money.ts'
import { dayName } from '../../src/tools/console/frame/parts.ts'

test('Amounts, numbers and days are written as Intl writes them for Britain, days without its comma', () => {
  const pounds = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'GBP' })
  const options = { timeZone: 'UTC', weekday: 'long', day: 'numeric', month: 'long' } as const
  for (const number of [0, 1, 9, 99, 100, 999, 1_000, 10_050, 999_999, 1_000_000, 1_002_003_004]) {
    assert.equal(inDigits(number), number.toLocaleString('en-GB'))
    assert.equal(inPounds(number), pounds.format(number / 100))
    const day = new Date(number * 5_000)
    assert.equal(
      dayName(day.getTime()),
      day.toLocaleDateString('en-GB', { ...options, year: 'numeric' }).replace(',', ''),
    )
  }
})
