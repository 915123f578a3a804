import type { Agreement, AgreementStatus } from '../../../pay/agreements/agreement.ts'
import { agreementRows } from '../../../pay/agreements/store.ts'
import { findPart, inRange, where } from '../../../platform/database/select.ts'
import type { Route } from '../../../platform/http/endpoint.ts'
import { type TagColour, tag } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { type CursorPage, readPage } from '../frame/cursor.ts'
import { liveNotice, NEWEST, type News, versionOf } from '../frame/live.ts'
import { type AccountVisit, type Page, textsIn } from '../frame/page.ts'
import { code, link, paragraph, timeIn, untrusted, wideTable } from '../frame/parts.ts'
import { cursorIn, linksBeside } from '../frame/query.ts'
import { pageRoute } from '../frame/route.ts'

const SIZE = 50

export const agreementsRoute = (context: ToolContext): Route =>
  pageRoute(context, 'agreements', visit => agreementsPage(context, visit))

const colours: Record<AgreementStatus, TagColour> = {
  created: 'grey',
  active: 'green',
  cancelled: 'grey',
  inactive: 'grey',
}

export const agreementTag = (status: AgreementStatus): Html => tag(status, colours[status])

const readAgreements = ({ database }: ToolContext, visit: AccountVisit) =>
  readPage<Agreement>(
    cursorIn(visit),
    SIZE,
    ({ agreement_id }) => agreement_id,
    (range, part) =>
      findPart(
        database,
        agreementRows,
        [where('account = ?', visit.account.room), ...inRange('agreement_id', range)],
        part,
      ),
  )

const versionOfList = ({ items }: CursorPage<Agreement>): string =>
  versionOf(items.map(({ agreement_id, version }) => [agreement_id, version]))

export async function agreementsNews(context: ToolContext, visit: AccountVisit): Promise<News> {
  const page = await readAgreements(context, visit)
  const { [NEWEST]: newest } = textsIn(visit, [NEWEST])
  const newer = page.items.filter(({ agreement_id }) => agreement_id > newest).length
  return { version: versionOfList(page), ...(page.newer ? {} : { newer }) }
}

async function agreementsPage(context: ToolContext, visit: AccountVisit): Promise<Page> {
  const { root } = visit
  const page = await readAgreements(context, visit)
  const content = html`<h1 class="govuk-heading-l">Agreements</h1>
${liveNotice(visit, {
  list: 'agreements',
  version: versionOfList(page),
  newest: page.items[0]?.agreement_id,
  href: `${root}agreements`,
  query: cursorIn(visit),
})}
${page.items.length === 0 ? none : table(root, page.items)}
${linksBeside('Agreements', page, `${root}agreements`, {})}`
  return { title: 'Agreements', section: 'agreements', content }
}

const none = paragraph(
  html`There are no agreements. Your service makes one with ${code('POST /v1/agreements')}, and a payment with its identifier as ${code('set_up_agreement')} makes it active.`,
)

const table = (root: string, agreements: readonly Agreement[]): Html =>
  wideTable({
    caption: 'Agreements, newest first',
    hidesCaption: true,
    columns: ['Reference', 'Status', 'Description', 'Card', 'Date created'].map(text => ({ text })),
    rows: agreements.map(({ agreement_id, reference, description, status, instrument }) => [
      link(`${root}agreements/${agreement_id}`, untrusted(reference)),
      agreementTag(status),
      untrusted(description),
      instrument
        ? `${instrument.card.card_brand} … ${instrument.card.last_digits_card_number}`
        : 'none',
      timeIn(agreement_id),
    ]),
  })
