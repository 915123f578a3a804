/** Whether what a page shows is still true: its script asks every two seconds. */
import { createHash } from 'node:crypto'
import { type Html, html } from '../../../platform/web/html.ts'
import type { AccountVisit } from './page.ts'
import { ACCOUNT_FIELD, link } from './parts.ts'
import { pageAddress } from './query.ts'

export type News = {
  /** Of what the page shows: another one as soon as something of it has changed. */
  version: string
  /** How many entries of a list are newer than those that the page shows. */
  newer?: number
  /** Milliseconds since the newest change. */
  ago?: number
}

/** Nobody reads more than "100 or more". */
export const MOST_NEWER = 100

/** Short, and not to be read back. */
export const versionOf = (shown: unknown): string =>
  createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 16)

/** The parameter of `newer.json` with the newest entry that a list shows. */
export const NEWEST = 'newest'

type Live = {
  /** The page in the words of news.ts. */
  list: string
  version: string
  /** The newest entry that the page shows. */
  newest?: string | undefined
  /** The address of the page, and the parameters that say what it shows. */
  href: string
  query?: Record<string, string | undefined>
}

/**
 * Where the script says that what the page shows has changed, and may follow it. Without script there is the link. The
 * page of a form with errors leads to that of the form.
 */
export function liveNotice(
  { root, account, now }: AccountVisit,
  { list, version, newest, href, query = {} }: Live,
): Html {
  const asks = pageAddress(`${root}newer.json`, {
    list,
    [ACCOUNT_FIELD]: account.name,
    [NEWEST]: newest,
    ...query,
  })
  return html`<div class="farthing-live" data-live="${asks}" data-version="${version}" data-account="${account.name}" data-now="${now}">
<p class="govuk-body" role="status"></p>
<p class="govuk-body">${link(pageAddress(href, query), 'Refresh')}</p>
<label class="govuk-body farthing-follow" hidden><input type="checkbox"> Follow</label>
</div>`
}
