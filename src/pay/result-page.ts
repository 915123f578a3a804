/** A page of search results as the behaviour of its account shows it. */
import type { Behaviour } from '../core/account.ts'
import { object, pageSchema, type Titled } from '../platform/http/schema.ts'
import { linksToNoPage, pageLinks } from './differences/reading.ts'

type Page = Parameters<typeof pageLinks.specification>[0]

/** Of agreements, refunds and disputes: pages of payments have no links to pages that do not exist. */
export const shownPage = (page: Page, behaviour: Behaviour): Page =>
  pageLinks[behaviour]({ ...page, _links: { ...linksToNoPage[behaviour], ...page._links } })

const href = { type: 'string', format: 'uri' }
const linkOrNone = object('PageLinkOrNone', {}, { href })
const link = object('PageLink', { href })
const linksOfGovukPay = object(
  'ResultLinks',
  { self: link, first_page: link, last_page: link },
  { prev_page: linkOrNone, next_page: linkOrNone },
)

/** Its schema. */
export const resultPage = (item: Titled, behaviour: Behaviour) =>
  behaviour === 'specification' ? pageSchema(item) : pageSchema(item, linksOfGovukPay)
