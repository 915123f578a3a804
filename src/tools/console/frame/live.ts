/** Whether what a page shows is still true: its script asks the page itself, with the ETag of what it shows. */
import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { type PageVisit, pageAddress } from './list.ts'
import { heading, link } from './parts.ts'

export type Look = {
  /** Of what the page shows: another one as soon as something of it has changed. */
  version: unknown
  /** The newest entry of a list. */
  newest?: string | undefined
  /** How many entries are newer than those that the browser shows. */
  newer?: number
  /** Milliseconds since the newest change. */
  ago?: number
}

/** Nobody reads more than "100 or more". */
export const MOST_NEWER = 100

/**
 * Weak, because the number beside *Check*, banners and times differ without a change of what the page shows. The hash is
 * short, and not to be read back.
 */
export const tagOf = ({ version, newest = '' }: Look): string =>
  `W/"${newest}.${hash('sha256', JSON.stringify(version), 'base64url').slice(0, 16)}"`

/** The header with which the script says of which account the page is. */
export const ACCOUNT_HEADER = 'farthing-account'

/** What the browser shows, if its script only asks whether that has changed. */
export const shownBy = ({ headers }: FastifyRequest): string | undefined =>
  ACCOUNT_HEADER in headers ? headers['if-none-match'] : undefined

/** The newest entry of the list that the browser shows; '' if it shows none. */
export const newestIn = (browserTag = ''): string =>
  /^W\/"([0-9a-v]*)\./.exec(browserTag)?.[1] ?? ''

const afterNewest = (tag: string) => tag.slice(tag.indexOf('.'))

/** 304, or what has changed since the browser got `browserTag`. */
export function sendLook(reply: FastifyReply, browserTag: string, look: Look): FastifyReply {
  const tag = tagOf(look)
  const { newer = 0, ago } = look
  if (newer === 0 && afterNewest(tag) === afterNewest(browserTag)) return reply.code(304).send()
  if (newer > 0) void reply.header('farthing-newer', newer)
  if (ago !== undefined) void reply.header('farthing-ago', Math.max(0, ago))
  return reply.type('text/html; charset=utf-8').send('')
}

/**
 * The heading with a status line. The script announces changes there, and can reload the page by itself (Follow). Without
 * script there is the link *Refresh*, which leads to the page of a form from its answer too. A page with errors at its
 * filters has the heading alone.
 */
export function liveHeading(visit: PageVisit, text: Part): Html {
  const query = { ...visit.values, ...visit.cursor, back: visit.back }
  return html`<div class="farthing-heading">
${heading(text)}
<div class="farthing-live">
<p class="govuk-body" role="status"></p>
<p class="govuk-body">${link(pageAddress(visit.here, query), 'Refresh')}</p>
<label class="govuk-body farthing-follow" hidden><input type="checkbox"> Follow</label>
</div>
</div>`
}
