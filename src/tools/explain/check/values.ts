/** Addresses as the rules compare them. */

/** The parts of an address as they are written, which a parser would encode. `query` is without its question mark. */
export function partsOf(url: unknown): { host: string; path: string; query: string } {
  const [, host = '', path = '', query = ''] =
    /^[a-z]+:\/\/(?:[^/?#@]*@)?([^/?#:]*)[^/?#]*([^?#]*)\??([^#]*)/i.exec(String(url)) ?? []
  return { host, path, query }
}

/** Scheme and host of the pages. */
const PAYMENT_PAGE = /"next_url":\{"href":"(https?:\/\/(?:\[[^\]"]*\]|[^/:"]+))/

/**
 * Whether a browser sends each cookie of a site back there from the pages of the payment. Their ports may differ. Hosts of
 * one domain are one site too; which these are, only a list of all public suffixes tells.
 */
export function isOfPages({ return_url }: { return_url?: unknown }, response: string): boolean {
  const site = PAYMENT_PAGE.exec(response)?.[1]
  if (site === undefined || typeof return_url !== 'string') return false
  const isSite = return_url.slice(0, site.length).toLowerCase() === site
  return isSite && /^(?:[:/?#]|$)/.test(return_url.slice(site.length))
}
