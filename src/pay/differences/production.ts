/**
 * Differences that neither behaviour shows, because they need a live account, another payment provider, the firewall or
 * another site: rules of the check find them under both.
 */
import { isLoopback } from '../../core/invocation.ts'
import {
  type Asked,
  CREATES,
  type Difference,
  type DifferenceRule,
  difference,
  WEB,
} from './difference.ts'
import { documented, inCode } from './source.ts'
import { isOfPages, mayHold, textsIn } from './values.ts'

type Beyond = Pick<Difference['about'], 'subject' | 'govukPay' | 'source'> &
  Omit<DifferenceRule<boolean>, 'answer'> & { is: (asked: Asked) => boolean }

const beyond = ({ subject, govukPay, source, is, ...rule }: Beyond) =>
  difference<boolean>({
    subject,
    specification: 'Both behaviours take it',
    govukPay,
    source,
    rule: { ...rule, answer: (isProduction, asked) => isProduction && is(asked) },
    decides: { specification: false, 'govuk-pay': false, production: true },
  })

const HTTP = {
  govukPay: 'A live account refuses http in return_url with 422 P0920; a test account takes it',
  source: inCode('connector', 'charge/service/ChargeService.java', '428-434'),
}

const isPlain = ({ body }: Asked): boolean => /^http:/i.test(String(body.return_url))
const isHere = ({ body }: Asked): boolean =>
  isLoopback(URL.parse(String(body.return_url))?.hostname ?? '')

export const plainHttpLive = beyond({
  ...HTTP,
  subject: 'http in return_url',
  id: 'P2',
  level: 'warn',
  advice: 'Use https in production.',
  among: WEB,
  is: asked => isPlain(asked) && !isHere(asked),
})

export const plainHttpHere = beyond({
  ...HTTP,
  subject: 'http in return_url, to this machine',
  id: 'P2',
  level: 'note',
  advice: 'Nothing is to be changed in tests. Use https in production.',
  among: WEB,
  is: asked => isPlain(asked) && isHere(asked),
})

export const blockedQuotes = beyond({
  subject: 'Quotation marks and backslashes in requests',
  govukPay:
    'The firewall blocks " and \\ in a request, with 400 P0920. Two of its own programs send them',
  source: documented('api_reference/#gov-uk-pay-api-error-codes'),
  id: 'P5',
  level: 'note',
  advice: 'Try it with a test account of GOV.UK Pay, or replace them.',
  among: { operation: /./, lacking: 'No request to /v1 succeeded.' },
  is: asked =>
    mayHold(asked) && textsIn([asked.body, ...asked.query]).some(text => /["\\]/.test(text)),
})

const AMOUNTS = documented('making_payments/#amount')
const amountOf = ({ body }: Asked): number => Number(body.amount)

export const leastOfStripe = beyond({
  subject: 'Small amounts',
  govukPay: 'With Stripe as the payment provider the least amount is 30 pence',
  source: AMOUNTS,
  id: 'P17',
  level: 'note',
  advice: 'Ask for 30 pence or more, if your provider is Stripe.',
  among: CREATES,
  is: asked => amountOf(asked) > 0 && amountOf(asked) < 30,
})

export const mostOfWorldpay = beyond({
  subject: 'Large amounts',
  govukPay: 'With Worldpay as the payment provider the most is 500,000 pence',
  source: AMOUNTS,
  id: 'P17',
  level: 'note',
  advice: 'Ask its support for larger payments, if your provider is Worldpay.',
  among: CREATES,
  is: asked => amountOf(asked) > 500_000,
})

export const strictCookies = beyond({
  subject: 'The cookie of the session at the return',
  govukPay:
    'The pages are another site than the service, here they are one. It recommends a session in a cookie: one with SameSite=Strict, which is kept here, is lost at the return there',
  source: documented(
    'integrate_with_govuk_pay/#identifying-your-user-when-they-return-to-your-service',
  ),
  id: 'P18',
  level: 'note',
  advice:
    'Give the cookie of your session SameSite=Lax. To see the difference here, use 127.0.0.1 for one of the two and localhost for the other: these are two sites.',
  among: WEB,
  is: ({ body, response }) => isOfPages(body, response),
})
