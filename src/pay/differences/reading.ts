/** Differences in how payments, agreements and disputes are shown. */

import { mapValues } from '../../core/map-values.ts'
import { postLink } from '../../platform/http/addresses.ts'
import { type BillingAddress, brandId, type CardDetails, type Prefilled } from '../card.ts'
import { difference } from './difference.ts'
import { inCode } from './source.ts'
import { cardFields, withNulls } from './values.ts'

export const agreementIdOfPayments = difference<'hidden' | 'shown'>({
  subject: 'agreement_id of a payment',
  specification: 'It is only in requests and searches',
  govukPay:
    'The payments of an agreement and the one that sets it up show it, but not in search results',
  source: inCode('connector', 'charge/service/ChargeService.java', '715'),
  noRule: 'answers do not show it',
  decides: { specification: 'hidden', 'govuk-pay': 'shown' },
})

export const cancelLink = difference<{ inSearches: 'absent' | 'null'; ofCharges: boolean }>({
  subject: 'The links cancel and capture, where they do not apply',
  specification: 'They are absent',
  govukPay:
    'In search results they are null, capture always. A payment in agreement mode has no cancel, though it can be cancelled while capturable',
  source: inCode('publicapi', 'model/search/card/PaymentForSearchResult.java', '45-50'),
  decides: {
    specification: { inSearches: 'absent', ofCharges: true },
    'govuk-pay': { inSearches: 'null', ofCharges: false },
  },
})

export const actionLinks = difference<{
  post: (href: string) => { href: string; method: 'POST' }
  authType: string
}>({
  subject: 'The links cancel, capture and auth_url_post',
  specification:
    'They have type and params too. The type of auth_url_post is application/x-www-form-urlencoded',
  govukPay:
    'cancel and capture have href and method. The type of auth_url_post is application/json',
  source: inCode('publicapi', 'model/links/PaymentWithAllLinks.java', '45-51'),
  decides: {
    specification: { post: postLink, authType: 'application/x-www-form-urlencoded' },
    'govuk-pay': { post: href => ({ href, method: 'POST' }), authType: 'application/json' },
  },
})

type Page = { _links: Readonly<Record<string, { href?: string }>> }

export const pageLinks = difference<{
  print: (page: Page) => Page
  toNoPage: object
  ofDisputes: (page: Page) => object
}>({
  subject: 'The links of a page of results',
  specification:
    'They have href and method, and those to no page are absent. Of disputes they are in _links and in links',
  govukPay:
    'They have href. next_page and prev_page of agreements, refunds and disputes are empty objects where there is none. Of disputes they are in links',
  source: inCode('publicapi', 'model/links/SearchNavigationLinks.java', '53-60'),
  decides: {
    specification: {
      print: page => page,
      toNoPage: {},
      ofDisputes: page => ({ ...page, links: page._links }),
    },
    'govuk-pay': {
      print: ({ _links, ...page }) => ({
        ...page,
        _links: mapValues(_links, ({ href }) => ({ ...(href && { href }) })),
      }),
      toNoPage: { prev_page: {}, next_page: {} },
      ofDisputes: ({ _links: links, ...page }) => ({ ...page, links }),
    },
  },
})

export const settlementOfOpenDisputes = difference<object>({
  subject: 'settlement_summary of a dispute that is not lost',
  specification: 'It is absent',
  govukPay: 'It is an empty object',
  source: inCode('publicapi', 'model/search/dispute/DisputeForSearchResult.java', '17'),
  decides: { specification: {}, 'govuk-pay': { settlement_summary: {} } },
})

type ShownCard = { card: CardDetails | undefined; prefilled: Prefilled | undefined }

/** An object with the known parts of an address; null if no part is known. */
function knownParts(address: BillingAddress = {}): BillingAddress | null {
  const known = Object.entries(address).filter(([, part]) => part !== '')
  return known.length > 0 ? Object.fromEntries(known) : null
}

export const cardOfPayments = difference<(shown: ShownCard) => object | undefined>({
  subject: 'card_details of a payment',
  specification: 'Unknown fields are absent, but for card_type',
  govukPay:
    'All eight fields are there, null where unknown. Of prefilled details card_brand is an empty text. billing_address has the known parts, after a card by the API too',
  source: inCode('publicapi', 'model/CardDetails.java', '13'),
  decides: {
    specification: ({ card, prefilled }) =>
      card ?? (prefilled && { ...prefilled, card_type: null }),
    'govuk-pay': ({ card, prefilled }) =>
      (card ?? prefilled) && {
        ...withNulls(cardFields, {
          card_brand: card ? undefined : '',
          ...(card ?? prefilled),
          billing_address: knownParts(card?.billing_address) ?? prefilled?.billing_address,
        }),
        wallet_type: null,
      },
  },
})

export const cardOfAgreements = difference<(card: CardDetails) => object>({
  subject: 'The card of the payment_instrument of an agreement',
  specification: 'It is CardDetails, and again card_details, without unknown fields',
  govukPay:
    'It is card_details, with seven fields, null where unknown. card_brand is as in searches, such as master-card',
  source: inCode('publicapi', 'agreement/model/Agreement.java', '100-125'),
  decides: {
    specification: card => ({ CardDetails: card, card_details: card }),
    'govuk-pay': card => ({
      card_details: withNulls(cardFields, {
        ...card,
        billing_address: knownParts(card.billing_address),
        card_brand: brandId(card.card_brand),
      }),
    }),
  },
})

export const shownFields = difference<{ providerId: 'always' | 'with a card'; fees: boolean }>({
  subject: 'provider_id, fee, net_amount and authorisation_summary',
  specification:
    'provider_id is there from the creation, fee and net_amount after a capture or a failure that followed a card, authorisation_summary once a card was submitted',
  govukPay: 'provider_id is there once a card was submitted, the others never with its sandbox',
  source: inCode('connector', 'paymentprocessor/service/CardAuthoriseService.java', '362'),
  noRule: 'answers do not show it',
  decides: {
    specification: { providerId: 'always', fees: true },
    'govuk-pay': { providerId: 'with a card', fees: false },
  },
})
