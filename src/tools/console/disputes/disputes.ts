/** The sample disputes, which every account has. */

import { inPounds } from '../../../core/money.ts'
import { disputes as samples } from '../../../pay/disputes/dispute.ts'
import { html } from '../../../platform/web/html.ts'
import { definePage } from '../frame/define-page.ts'
import { code, numeric, paragraph, wideTable } from '../frame/parts.ts'

export const disputes = definePage({
  path: 'disputes',
  navigation: 'Disputes',
  below: 'More',
  show: () => html`${paragraph(html`Four fixed records, the same for every account, as ${code('GET /v1/disputes')} returns them. Their payments do not exist here.`)}
${wideTable({
  caption: 'Disputes, newest first',
  columns: [
    'Reason',
    'Status',
    numeric('Amount'),
    'Date created',
    'Evidence due',
    'Settled',
    'Dispute ID',
  ],
  rows: samples.map(dispute => [
    dispute.reason.replaceAll('_', ' '),
    dispute.status.replaceAll('_', ' '),
    inPounds(dispute.amount),
    dispute.created_date.slice(0, 10),
    dispute.evidence_due_date.slice(0, 10),
    dispute.settled_date ?? 'not settled',
    code(dispute.dispute_id),
  ]),
})}`,
})
