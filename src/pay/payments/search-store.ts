/** The filters of a search for payments, and its conditions and total in SQL. */
import type { Account } from '../../core/account.ts'
import type { AccountTime, Value } from '../../core/ports.ts'
import { digits, oneOf, textUpTo } from '../../core/values.ts'
import { containing, fold, groupOf } from '../../platform/database/fold.ts'
import { ifGiven, where } from '../../platform/database/select.ts'
import { parameter } from '../../platform/http/query.ts'
import { plainText } from '../../platform/http/schema.ts'
import {
  createdBetween,
  createdRange,
  filters,
  paging,
  type Search,
  type SearchKind,
  settledBetween,
} from '../../platform/http/search.ts'
import { brandIds } from '../card.ts'
import { underEach } from '../differences/difference.ts'
import { filtersByBrand, findsFromDate, refusedStates } from '../differences/searching.ts'
import { oldestKept } from '../retention.ts'
import { statuses } from './payment.ts'
import { newPayment } from './request.ts'
import { prefixOf } from './store.ts'

const texts = (length: number, example: string, description: string) =>
  parameter(textUpTo(length), description, { examples: [example] })

/** `GET /v1/payments`, under each behaviour. */
export const paymentSearches = underEach(
  (behaviour): SearchKind => ({
    path: '/v1/payments',
    codes: { invalid: 'P0401', pastEnd: 'P0402' },
    filters: {
      state: parameter(
        oneOf(statuses.filter(status => !refusedStates[behaviour].includes(status))),
        'The status of the payment',
      ),
      reference: texts(plainText.maxLength, 'PITCH-41', 'The whole reference, in any case'),
      email: texts(
        newPayment.properties.email.maxLength,
        'example.org',
        'Part of the email, in any case',
      ),
      card_brand: texts(20, 'visa', `One of ${brandIds.join(', ')}`),
      cardholder_name: texts(Infinity, 'Trader', 'Part of the name, in any case'),
      agreement_id: texts(
        Infinity,
        '06h3k9v0u2j4m5n6p7q8r9s0t1',
        'Payments made with this agreement, or setting it up',
      ),
      from_date: filters.from_date,
      to_date: filters.to_date,
      ...paging,
      first_digits_card_number: parameter(digits(6), 'The first six digits of the card', {
        examples: ['424242'],
      }),
      last_digits_card_number: parameter(digits(4), 'The last four digits of the card', {
        examples: ['4242'],
      }),
      from_settled_date: filters.from_settled_date,
      to_settled_date: filters.to_settled_date,
    },
  }),
)

/** The conditions of a search for payments of the account that are not gone at `now`, in milliseconds. */
export function searchConditions(search: Search, { room, behaviour }: Account, now: AccountTime) {
  const { filters } = search
  const equal = (column: string, value: Value | undefined) => ifGiven(`${column} = ?`, value)
  const part = (column: string, value: string | undefined) =>
    ifGiven(`${column} like ? escape '\\'`, value && containing(value))
  return [
    where('account = ?', room),
    where('payment_id >= ?', oldestKept(now, behaviour)),
    ...equal('status', filters.state),
    ...equal('reference_group', filters.reference && groupOf(fold(filters.reference))),
    ...equal('reference_folded', filters.reference && fold(filters.reference)),
    ...part('email_folded', filters.email),
    ...(filtersByBrand[behaviour] ? equal('card_brand', filters.card_brand) : []),
    ...part('cardholder_name_folded', filters.cardholder_name),
    ...equal('agreement_id', filters.agreement_id),
    ...createdBetween(search, 'payment_id', findsFromDate[behaviour]),
    ...equal('first_digits', filters.first_digits_card_number),
    ...equal('last_digits', filters.last_digits_card_number),
    ...settledBetween(search),
  ]
}

/** A fast query of the total of a search by account and time alone; undefined for any other search. */
export function quickTotal(search: Search, { room, behaviour }: Account, now: AccountTime) {
  const { from_date, to_date, ...others } = search.filters
  if (Object.keys(others).length > 0) return undefined
  const { from = '', until = AFTER } = createdRange(search, findsFromDate[behaviour])
  const oldest = oldestKept(now, behaviour)
  const start = from > oldest ? from : oldest
  const [first, last] = [prefixOf(start), prefixOf(until)]
  if (first >= last) return where(COUNT_ROWS, room, start, until)
  const sql = `select (${COUNT_ROWS}) + (${SUM_COUNTERS}) + (${COUNT_ROWS})`
  return where(sql, room, start, first + AFTER, room, first + AFTER, last, room, last, until)
}

/** Sorts after every identifier, whose characters are 0-9 and a-v. */
const AFTER = 'w'

const COUNT_ROWS =
  'select count(*) from payments where account = ? and payment_id >= ? and payment_id < ?'
const SUM_COUNTERS =
  'select coalesce(sum(payments), 0) from payment_counts where account = ? and bucket >= ? and bucket < ?'
