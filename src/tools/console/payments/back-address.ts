import { askedFor } from '../../../platform/http/addresses.ts'
import type { AccountVisit } from '../frame/page.ts'

/** The page to which users of the console's payments return, at the address at which the browser has the console. */
export function backAddress({ request, config, addresses, base }: AccountVisit): string {
  const { host } = askedFor(request, config)
  const site = [addresses.pages, addresses.api].find(each => new URL(each).host === host)
  return `${site ?? addresses.api}${base}/back`
}
