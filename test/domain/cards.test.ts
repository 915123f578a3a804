import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brandId, mockCard, submittedCard } from '../../src/pay/card.ts'
import { isExpired } from '../../src/pay/differences/values.ts'
import { MOCK_CARD } from '../support/expected-payment.ts'

const brands: [digits: string[], brand: string, id: string][] = [
  [['4'], 'Visa', 'visa'],
  [['51', '52', '53', '54', '55', '22', '23', '24', '25', '26', '27'], 'Mastercard', 'master-card'],
  [['34', '37'], 'American Express', 'american-express'],
  [['6011'], 'Discover', 'discover'],
  [['35'], 'Jcb', 'jcb'],
  [['30', '36', '38'], 'Diners Club', 'diners-club'],
  [['62'], 'Union Pay', 'unionpay'],
]

function brandOf(number: string): string | undefined {
  return brands.find(([digits]) => digits.some(start => number.startsWith(start)))?.[1]
}

test('a card has the brand of its leading digits, and keeps the first six and the last four digits of its number and no others', () => {
  for (let start = 0; start < 10_000; start++) {
    const number = String(start).padStart(4, '0') + '567890123456789'.slice(0, 8 + (start % 8))
    const brand = brandOf(number)
    assert.deepEqual(submittedCard(number, 'A Caller', '04/31'), {
      first_digits_card_number: number.slice(0, 6),
      last_digits_card_number: number.slice(-4),
      cardholder_name: 'A Caller',
      expiry_date: '04/31',
      card_type: 'credit',
      ...(brand !== undefined && { card_brand: brand }),
    })
  }
})

test('every brand has an id for the card_brand filter', () => {
  for (const [, brand, id] of brands) assert.equal(brandId(brand), id)
  assert.equal(brandId('visa'), undefined)
})

test('an expiry date is over half a day after its month, so that no time zone makes a difference', () => {
  for (const [now, expected] of [
    ['2026-08-31T23:59:59.999Z', false],
    ['2026-09-01T11:59:59.999Z', false],
    ['2026-09-01T12:00:00.000Z', true],
  ] as const)
    assert.equal(isExpired('08/26', Date.parse(now)), expected, now)
})

const created = Date.parse('2026-12-31T23:59:59.999Z')

test('the mock card is a Visa credit card that expires in December three years after creation', () => {
  assert.deepEqual(mockCard(undefined, created), MOCK_CARD)
  assert.equal(mockCard(undefined, created + 1).expiry_date, '12/30')
  assert.equal(mockCard(undefined, Date.parse('2098-01-01')).expiry_date, '12/01')
})

test('the mock card has the prefilled name, and the prefilled address when any part of it is given, with every other part blank', () => {
  const named = mockCard({ cardholder_name: 'Gwen Hughes' }, created)
  assert.deepEqual(named, { ...MOCK_CARD, cardholder_name: 'Gwen Hughes' })
  const placed = mockCard({ billing_address: { city: 'Bangor' } }, created)
  const blank = { line1: '', line2: '', city: '', postcode: '', country: 'GB' }
  assert.deepEqual(placed, { ...MOCK_CARD, billing_address: { ...blank, city: 'Bangor' } })
})
