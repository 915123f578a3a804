/** A page of search results as the behaviour of its account shows it. */
import type { Behaviour } from '../core/account.ts'
import { link as anyLink, object, pageSchema, type Titled } from '../platform/http/schema.ts'
import { pageLinks } from './differences/reading.ts'

type Page = Parameters<typeof pageLinks.specification.print>[0]

/** For agreements, refunds and disputes. Payments do not use it: their links to pages that do not exist are absent. */
export const shownPage = (page: Page, behaviour: Behaviour): Page =>
  pageLinks[behaviour].print({
    ...page,
    _links: { ...pageLinks[behaviour].toNoPage, ...page._links },
  })

/** The link has no href if there is no such page. */
const link = object('PageLink', {}, anyLink.properties)
const linksOfGovukPay = object(
  'ResultLinks',
  { self: link, first_page: link, last_page: link },
  { prev_page: link, next_page: link },
)

/** The schema of a page of search results. */
export const resultPage = (item: Titled, behaviour: Behaviour) =>
  behaviour === 'specification' ? pageSchema(item) : pageSchema(item, linksOfGovukPay)
