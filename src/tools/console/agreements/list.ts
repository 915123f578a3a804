import type { Agreement, AgreementStatus } from '../../../pay/agreements/agreement.ts'
import { agreementRows } from '../../../pay/agreements/store.ts'
import { findPart, inRange, where } from '../../../platform/database/select.ts'
import { type TagColour, tag } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { readPage } from '../frame/cursor.ts'
import { definePage } from '../frame/define-page.ts'
import { liveNotice } from '../frame/live.ts'
import { code, link, paragraph, timeIn, untrusted, wideTable } from '../frame/parts.ts'
import { pageLinks } from '../frame/query.ts'

const SIZE = 50

export const agreements = definePage({
  path: 'agreements',
  section: 'agreements',
  title: 'Agreements',
  read: ({ database }, { account, cursor }) =>
    readPage<Agreement>(
      cursor,
      SIZE,
      ({ agreement_id }) => agreement_id,
      (range, part) =>
        findPart(
          database,
          agreementRows,
          [where('account = ?', account.room), ...inRange('agreement_id', range)],
          part,
        ),
    ),
  show: (visit, page) => html`<h1 class="govuk-heading-l">Agreements</h1>
${liveNotice(visit)}
${page.items.length === 0 ? none : table(visit.root, page.items)}
${pageLinks(visit, 'Agreements', page)}`,
  live: true,
  entries: ({ items }) => items.map(({ agreement_id }) => agreement_id),
})

const colours: Record<AgreementStatus, TagColour> = {
  created: 'grey',
  active: 'green',
  cancelled: 'grey',
  inactive: 'grey',
}

export const agreementTag = (status: AgreementStatus): Html => tag(status, colours[status])

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
