import { containing, fold, groupOf } from '../database/fold.ts'
import {
  type Condition,
  createdBetween,
  createdRange,
  settledBetween,
  where,
} from '../http/find-page.ts'
import type { Search, SearchKind } from '../http/page.ts'
import { plainText } from '../http/schema.ts'
import { anyOf, exactly, filters, paging, textUpTo } from '../http/search.ts'
import type { Value } from '../ports.ts'
import { oldestKept } from '../retention.ts'
import { brandIds } from './card.ts'
import { AFTER, totalBetween } from './count.ts'
import { statuses } from './payment.ts'
import { newPayment } from './request.ts'

/** GET /v1/payments. */
export const paymentSearch: SearchKind = {
  path: '/v1/payments',
  codes: { invalid: 'P0401', pastEnd: 'P0402' },
  filters: {
    state: anyOf(statuses, 'The status of the payment'),
    reference: textUpTo(plainText.maxLength, 'The whole reference, in any case'),
    email: textUpTo(newPayment.properties.email.maxLength, 'Part of the email, in any case'),
    card_brand: textUpTo(20, `One of ${brandIds.join(', ')}`),
    cardholder_name: textUpTo(Infinity, 'Part of the name, in any case'),
    agreement_id: textUpTo(Infinity, 'Payments made with this agreement, or setting it up'),
    from_date: filters.from_date,
    to_date: filters.to_date,
    ...paging,
    first_digits_card_number: exactly(6, 'The first six digits of the card'),
    last_digits_card_number: exactly(4, 'The last four digits of the card'),
    from_settled_date: filters.from_settled_date,
    to_settled_date: filters.to_settled_date,
  },
}

/** Only of the account, and not gone at `now`, in milliseconds. */
export function searchConditions(search: Search, account: string, now: number): Condition[] {
  const { given } = search
  const equal = (column: string, value: Value | undefined) =>
    value === undefined ? [] : [where(`${column} = ?`, value)]
  const part = (column: string, value: string | undefined) =>
    value === undefined ? [] : [where(`${column} like ? escape '\\'`, containing(value))]
  return [
    where('account = ?', account),
    where('payment_id >= ?', oldestKept(now)),
    ...equal('status', given.state),
    ...equal('reference_group', given.reference && groupOf(fold(given.reference))),
    ...equal('reference_folded', given.reference && fold(given.reference)),
    ...part('email_folded', given.email),
    ...equal('card_brand', given.card_brand),
    ...part('cardholder_name_folded', given.cardholder_name),
    ...equal('agreement_id', given.agreement_id),
    ...createdBetween(search, 'payment_id'),
    ...equal('first_digits', given.first_digits_card_number),
    ...equal('last_digits', given.last_digits_card_number),
    ...settledBetween(search),
  ]
}

/** The query of a search's total where only account and time decide; undefined where rows must be read. */
export function quickTotal(search: Search, account: string, now: number): Condition | undefined {
  const { from_date, to_date, ...others } = search.given
  if (Object.keys(others).length > 0) return undefined
  const { from = '', until = AFTER } = createdRange(search)
  const oldest = oldestKept(now)
  return totalBetween(account, from > oldest ? from : oldest, until)
}
