import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brandId, mockCard, submittedCard } from '../../src/pay/card.ts'
import { fc } from '../support/properties.ts'

/** The leading digits of each brand, and the id of the brand in the card_brand filter. */
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

describe('Cards: submitted card', () => {
  test('a card has the brand of its leading digits', () => {
    for (let start = 0; start < 10_000; start++) {
      const number = `${String(start).padStart(4, '0')}00000000`
      assert.equal(submittedCard(number, 'A', '01/30').card_brand, brandOf(number), number)
    }
  })

  test('every brand has an id for the card_brand filter', () => {
    for (const [, brand, id] of brands) assert.equal(brandId(brand), id)
    assert.equal(brandId('visa'), undefined)
  })

  test('a card keeps the first six and the last four digits of its number and no others', () => {
    const numbers = fc.stringMatching(/^[0-9]{12,19}$/)
    fc.assert(
      fc.property(numbers, number => {
        const card = submittedCard(number, 'A Caller', '04/31')
        const brand = brandOf(number)
        assert.deepEqual(card, {
          first_digits_card_number: number.slice(0, 6),
          last_digits_card_number: number.slice(-4),
          cardholder_name: 'A Caller',
          expiry_date: '04/31',
          card_type: 'credit',
          ...(brand !== undefined && { card_brand: brand }),
        })
      }),
    )
  })
})

describe('Cards: mock card of the hosted pages', () => {
  const created = Date.parse('2026-12-31T23:59:59.999Z')
  const address = {
    line1: '1 Sample Street',
    line2: '',
    postcode: 'ZZ1 1ZZ',
    city: 'Sampleton',
    country: 'GB',
  }
  const mock = {
    first_digits_card_number: '424242',
    last_digits_card_number: '4242',
    cardholder_name: 'Demo Cardholder',
    expiry_date: '12/29',
    billing_address: address,
    card_brand: 'Visa',
    card_type: 'credit',
  }

  test('the mock card is a Visa credit card that expires in December three years after creation', () => {
    assert.deepEqual(mockCard(undefined, created), mock)
    assert.equal(mockCard(undefined, created + 1).expiry_date, '12/30')
    assert.equal(mockCard(undefined, Date.parse('2098-01-01')).expiry_date, '12/01')
  })

  test('the mock card has the prefilled name, and the prefilled address when any part of it is given, with every other part blank', () => {
    const named = mockCard({ cardholder_name: 'Gwen Hughes' }, created)
    assert.deepEqual(named, { ...mock, cardholder_name: 'Gwen Hughes' })
    const placed = mockCard({ billing_address: { city: 'Bangor' } }, created)
    const blank = { line1: '', line2: '', city: '', postcode: '', country: 'GB' }
    assert.deepEqual(placed, { ...mock, billing_address: { ...blank, city: 'Bangor' } })
  })
})
