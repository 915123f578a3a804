/** What differs in how payments, agreements and disputes are shown. */

import { postLink } from '../../platform/http/addresses.ts'
import type { BillingAddress, CardDetails, Prefilled } from '../card.ts'
import { difference } from './difference.ts'
import { inCode } from './source.ts'
import { cardFields, withNulls } from './values.ts'

export const agreementIdOfPayments = difference<'hidden' | 'shown'>(
  {
    subject: 'agreement_id of a payment',
    specification: 'It is only in requests and searches',
    govukPay:
      'It is shown on the payments of an agreement and on the one that sets it up, but not in search results',
    source: inCode('connector', 'charge/service/ChargeService.java', '715'),
    noRule: 'answers do not show whether a client relies on it',
  },
  { specification: 'hidden', 'govuk-pay': 'shown' },
)

export const linksOfFoundPayments = difference<'absent' | 'null'>(
  {
    subject: 'The links cancel and capture of a search result, where they do not apply',
    specification: 'They are absent',
    govukPay: 'They are null, and capture always is',
    source: inCode('publicapi', 'model/search/card/PaymentForSearchResult.java', '45-50'),
  },
  { specification: 'absent', 'govuk-pay': 'null' },
)

export const cancelLinkInAgreementMode = difference<'while capturable' | 'never'>(
  {
    subject: 'The link cancel of a payment in agreement mode',
    specification: 'It is there while the payment can be cancelled',
    govukPay: 'It is never there, though a capturable payment can be cancelled',
    source: inCode('publicapi', 'model/links/PaymentWithAllLinks.java', '45'),
  },
  { specification: 'while capturable', 'govuk-pay': 'never' },
)

export const actionLinks = difference<(href: string) => { href: string; method: 'POST' }>(
  {
    subject: 'The links cancel and capture',
    specification: 'They have href, method, type and params',
    govukPay: 'They have href and method',
    source: inCode('publicapi', 'model/links/PaymentWithAllLinks.java', '45-51'),
  },
  { specification: postLink, 'govuk-pay': href => ({ href, method: 'POST' }) },
)

export const typeOfAuthLink = difference<string>(
  {
    subject: 'The type of the link auth_url_post',
    specification: 'It is application/x-www-form-urlencoded',
    govukPay: 'It is application/json',
    source: inCode('connector', 'charge/service/ChargeService.java', '734'),
  },
  { specification: 'application/x-www-form-urlencoded', 'govuk-pay': 'application/json' },
)

type Page = { _links: Readonly<Record<string, { href?: string }>> }

export const pageLinks = difference<(page: Page) => Page>(
  {
    subject: 'The links of a page of results',
    specification: 'They have href and method',
    govukPay: 'They have href',
    source: inCode('publicapi', 'model/search/PaginationDecorator.java', '66-70'),
  },
  {
    specification: page => page,
    'govuk-pay': page => ({
      ...page,
      _links: Object.fromEntries(
        Object.entries(page._links).map(([name, { href }]) => [name, { ...(href && { href }) }]),
      ),
    }),
  },
)

export const linksToNoPage = difference<object>(
  {
    subject: 'next_page and prev_page of agreements, refunds and disputes, where there is none',
    specification: 'They are absent',
    govukPay: 'They are empty objects',
    source: inCode('publicapi', 'model/links/SearchNavigationLinks.java', '53-60'),
  },
  { specification: {}, 'govuk-pay': { prev_page: {}, next_page: {} } },
)

export const linksOfDisputes = difference<(page: Page) => object>(
  {
    subject: 'The links of a page of disputes',
    specification: 'They are in _links, and again in links',
    govukPay: 'They are in links',
    source: inCode('publicapi', 'model/search/dispute/DisputesSearchResults.java', '20-21'),
  },
  {
    specification: page => ({ ...page, links: page._links }),
    'govuk-pay': ({ _links: links, ...page }) => ({ ...page, links }),
  },
)

export const settlementOfOpenDisputes = difference<object>(
  {
    subject: 'settlement_summary of a dispute that is not lost',
    specification: 'It is absent',
    govukPay: 'It is an empty object',
    source: inCode('publicapi', 'model/search/dispute/DisputeForSearchResult.java', '17'),
  },
  { specification: {}, 'govuk-pay': { settlement_summary: {} } },
)

type ShownCard = { card: CardDetails | undefined; prefilled: Prefilled | undefined }

/** The parts that are known; null if none is. */
function knownParts(address: BillingAddress = {}): BillingAddress | null {
  const known = Object.entries(address).filter(([, part]) => part !== '')
  return known.length > 0 ? Object.fromEntries(known) : null
}

export const cardOfPayments = difference<(shown: ShownCard) => object | undefined>(
  {
    subject: 'card_details of a payment',
    specification: 'Fields that are not known are absent, but for card_type',
    govukPay:
      'All eight fields are there, and those that are not known are null. Of prefilled details card_brand is an empty text. billing_address has the parts that are known, after a card by the API too',
    source: inCode('publicapi', 'model/CardDetails.java', '13'),
  },
  {
    specification: ({ card, prefilled }) =>
      card ?? (prefilled && { ...prefilled, card_type: null }),
    'govuk-pay': ({ card, prefilled }) =>
      (card ?? prefilled) && {
        ...withNulls(cardFields, {
          card_brand: card ? undefined : '',
          ...(card ?? prefilled),
          billing_address: knownParts(card?.billing_address ?? prefilled?.billing_address),
        }),
        wallet_type: null,
      },
  },
)

export const cardOfAgreements = difference<(card: CardDetails) => object>(
  {
    subject: 'The card of the payment_instrument of an agreement',
    specification:
      'It is CardDetails, and again card_details. Fields that are not known are absent',
    govukPay: 'It is card_details, with seven fields. Those that are not known are null',
    source: inCode('publicapi', 'agreement/model/Agreement.java', '100-125'),
  },
  {
    specification: card => ({ CardDetails: card, card_details: card }),
    'govuk-pay': card => ({
      card_details: withNulls(cardFields, {
        ...card,
        billing_address: knownParts(card.billing_address),
      }),
    }),
  },
)

export const providerIdShown = difference<'always' | 'with a card'>(
  {
    subject: 'provider_id',
    specification: 'It is there from the creation of the payment',
    govukPay: 'It is there once a card was submitted',
    source: inCode('connector', 'paymentprocessor/service/CardAuthoriseService.java', '362'),
    noRule: 'answers do not show whether a client relies on it',
  },
  { specification: 'always', 'govuk-pay': 'with a card' },
)

export const feesShown = difference<boolean>(
  {
    subject: 'fee and net_amount',
    specification: 'They are there after a capture, and after a failure that followed a card',
    govukPay: 'They are never there with its sandbox',
    source: inCode('connector', 'paymentprocessor/service/CardCaptureService.java', '109-114'),
  },
  { specification: true, 'govuk-pay': false },
)

export const authorisationSummaryShown = difference<boolean>(
  {
    subject: 'authorisation_summary',
    specification: 'It says whether 3D Secure was required, once a card was submitted',
    govukPay: 'It is there only if 3D Secure was required, so never with its sandbox',
    source: inCode('publicapi', 'utils/AuthorisationSummaryHelper.java', '6-12'),
  },
  { specification: true, 'govuk-pay': false },
)
