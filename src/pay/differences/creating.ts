/** What differs while a payment is created. */
import { difference, type Mode } from './difference.ts'
import { inCode } from './source.ts'

/** In pence. */
export const leastAmount = difference(
  {
    subject: 'Amount 0',
    specification: 'It is accepted',
    govukPay: 'It is refused with 422 P0102, unless its support has allowed it for the account',
    source: inCode('connector', 'charge/service/ChargeService.java', '1223'),
    rule: {
      id: 'P1',
      level: 'warn',
      advice: 'Ask its support to allow payments of 0 for the account, or make no payment.',
      among: { operation: 'createPayment', lacking: 'No payment was created.' },
      answer: (least, { body }) => (Number(body.amount) < least ? '422 P0102' : undefined),
    },
  },
  { specification: 0, 'govuk-pay': 1 },
)

type UsedKey = 'refused' | 'ignored' | 'repeats'

/** What a create does whose Idempotency-Key has created a payment. */
export const usedKey = difference<(mode: Mode) => UsedKey>(
  {
    subject: 'The second use of an Idempotency-Key',
    specification: 'It is refused with 409 P0191',
    govukPay:
      'Outside agreement mode the key is ignored: two equal requests make two payments. In agreement mode the same request within 24 hours returns 200 with the first payment',
    source: inCode('connector', 'charge/resource/ChargesApiResource.java', '174'),
    rule: {
      id: 'P4',
      level: 'fail',
      advice: 'Make sure that one order makes one payment. Only agreement mode uses the key.',
      among: { operation: 'createPayment', lacking: 'No payment was created.' },
      answer: (decided, { refusal, body }) =>
        refusal?.code === 'P0191' ? decided(modeOf(body)) : undefined,
    },
  },
  {
    specification: () => 'refused',
    'govuk-pay': mode => (mode === 'agreement' ? 'repeats' : 'ignored'),
  },
)

const modeOf = ({ authorisation_mode: mode }: Readonly<Record<string, unknown>>): Mode =>
  mode === 'moto_api' || mode === 'agreement' ? mode : 'web'
