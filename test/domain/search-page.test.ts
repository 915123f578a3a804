import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNewId } from '../../src/core/ids.ts'
import { paymentSearches } from '../../src/pay/payments/search-store.ts'
import type { QueryParameter } from '../../src/platform/http/query.ts'
import { createdBetween, filters, pageOf, readSearch } from '../../src/platform/http/search.ts'
import { fc } from '../support/properties.ts'

const API = 'http://127.0.0.1:3000'
const ADDRESSES = { api: API, pages: API }
const sizes = fc.integer({ min: 1, max: 500 })
const totals = fc.integer({ min: 0, max: 600 })

function page(total: number, query: Record<string, string>) {
  const search = readSearch(query, paymentSearches.specification)
  const from = (search.page - 1) * search.displaySize
  const all = Array.from({ length: total }, (_, i) => i)
  const results = all.slice(from, from + search.displaySize)
  return pageOf(search, { total, count: results.length, results }, ADDRESSES, each => each)
}

test('a page past the last is 404, and a search without results has every page', () => {
  fc.assert(
    fc.property(totals, sizes, fc.integer({ min: 1, max: 5000 }), (total, size, asked) => {
      const last = Math.max(1, Math.ceil(total / size))
      const read = () => page(total, { page: String(asked), display_size: String(size) })
      if (total > 0 && asked > last) {
        assert.throws(read, { status: 404, code: 'P0402' })
        return
      }
      const shown = read()
      assert.equal(shown.page, asked)
      const before = Math.min(asked - 1, last)
      const { prev_page, self } = shown._links
      const expected = before && self?.href.replace(`page=${asked}&`, `page=${before}&`)
      assert.equal(prev_page?.href ?? 0, expected)
      assert.equal('next_page' in shown._links, asked < last)
    }),
  )
})

const isValidFor =
  ({ read }: QueryParameter) =>
  (text: string): boolean =>
    read(text) !== undefined

test('a date is a real day written YYYY-MM-DD', () => {
  const valid = isValidFor(filters.from_settled_date)
  for (const text of ['0000-01-01', '2024-02-29', '9999-12-31']) assert.ok(valid(text), text)
  for (const text of ['1900-02-29', '2026-04-31', '2026-00-10', '14-09-2026', '2026-09'])
    assert.equal(valid(text), false, text)
})

test('a date and time is ISO 8601 with Z or an offset and an optional fraction', () => {
  const valid = isValidFor(filters.from_date)
  for (const at of ['2026-09-14T08:20Z', '2024-02-29T23:59:59+00:00', '2026-09-14T08:20:31Z[UTC]'])
    assert.equal(valid(at), true, at)
  for (const text of [
    '2026-09-14 08:20:31Z',
    '2026-09-14T24:00:00Z',
    '2026-09-14T08:60:31Z',
    '2026-09-14T08:20:61Z',
    '2026-09-14T08:20:31.1234567890Z',
    '2026-09-14T09:20:31+0100',
    '2026-09-14T09:20:31+01[Europe/London',
    '2026-09-14T08:20:31+19:00',
    '2026-09-14T08:20:31+18:00:01',
    '2026-09-14T08:20:31+01:60',
    ' 2026-09-14T08:20:31Z',
    '2026-9-14T08:20:31Z',
  ])
    assert.equal(valid(text), false, text)
})

test('a date and time is compared to more digits than a created_date has', () => {
  const id = createNewId()(Date.parse('2026-09-14T08:20:31.407Z'))
  const compared = (name: 'from_date' | 'to_date', time: string) => {
    const search = readSearch({ [name]: `2026-09-14T${time}` }, paymentSearches.specification)
    const floor = String(createdBetween(search, 'payment_id')[0]?.values[0])
    return name === 'from_date' ? id >= floor : id < floor
  }
  const before = [
    '08:20:31Z',
    '08:20:31.4Z',
    '08:20:31.407Z',
    '08:20:31.40700Z',
    '08:20:31.4069999Z',
    '09:20:32.407+01:00:01',
    '07:50:31.407-00:30',
    '08:20:31.Z',
  ]
  const after = [
    '08:20:31.4070001Z',
    '08:20:31.408Z',
    '09:20:31.4070001+01:00',
    '09:20:31.407123456+01',
    '09:20:32.4070001+01:00:01',
    '08:20:32.Z',
    '08:20:31-18:00',
    '09:20:31.4070001+01:00[Europe/London]',
  ]
  for (const time of [...before, ...after]) {
    const isAfter = after.includes(time)
    assert.equal(compared('from_date', time), !isAfter, `from ${time}`)
    assert.equal(compared('to_date', time), isAfter, `to ${time}`)
  }
})
