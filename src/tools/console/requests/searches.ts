/** The query parameters that the searches know. */
import { agreementSearch } from '../../../pay/agreements/routes.ts'
import { disputeSearch } from '../../../pay/disputes/routes.ts'
import { paymentSearch } from '../../../pay/payments/store.ts'
import { refundSearch } from '../../../pay/refunds/routes.ts'
import { webhookSearch } from '../../../pay/webhooks/routes.ts'
import type { SearchKind } from '../../../platform/http/search.ts'

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
