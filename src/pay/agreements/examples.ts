/** An example agreement for /openapi.json. */

import { timeOf } from '../../core/ids.ts'
import { pathParameter } from '../../platform/http/openapi.ts'
import type { Agreement } from './agreement.ts'

export const request = {
  reference: 'CLUB-31',
  description: 'Sailing club membership, monthly',
  user_identifier: 'member-31',
}

export const created: Agreement = {
  agreement_id: '06gfelgqu180hac8unqmn63i7q',
  room: 'example',
  version: 1,
  status: 'created',
  ...request,
}

export const instrumentCard = {
  first_digits_card_number: '424242',
  last_digits_card_number: '4242',
  cardholder_name: 'Demo Cardholder',
  expiry_date: '12/29',
  card_brand: 'Visa',
  card_type: 'credit',
} as const

export const active: Agreement = {
  ...created,
  status: 'active',
  instrument: { at: timeOf(created.agreement_id) + 213_004, card: instrumentCard },
}

export const agreementId = pathParameter(
  'agreement_id',
  'An agreement of the account',
  created.agreement_id,
)
