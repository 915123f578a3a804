/** The query parameters that the searches know. */
import { agreementSearch } from '../agreements/routes.ts'
import { disputeSearch } from '../disputes/routes.ts'
import type { SearchKind } from '../http/search.ts'
import { paymentSearch } from '../payments/store.ts'
import { refundSearch } from '../refunds/routes.ts'
import { webhookSearch } from '../webhooks/routes.ts'

const searches: Record<string, SearchKind> = {
  searchPayments: paymentSearch,
  searchRefunds: refundSearch,
  searchAgreements: agreementSearch,
  searchDisputes: disputeSearch,
  listWebhooks: webhookSearch,
  listWebhookMessages: webhookSearch,
}

/** The names of parameters in the query of a search that it does not know, and so ignored. */
export function ignoredParameters(operation: string, query: string): string[] {
  const search = searches[operation]
  if (!search) return []
  const names = new Set(new URLSearchParams(query).keys())
  return [...names].filter(name => !Object.hasOwn(search.filters, name))
}

/** The parameters that a search knows. */
export const parametersOf = (operation: string): string[] =>
  Object.keys(searches[operation]?.filters ?? {})
