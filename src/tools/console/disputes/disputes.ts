import { inPounds } from '../../../core/money.ts'
import { disputes as samples } from '../../../pay/disputes/dispute.ts'
import { html } from '../../../platform/web/html.ts'
import { definePage } from '../frame/define-page.ts'
import * as ui from '../frame/parts.ts'

export const disputes = definePage({
  path: 'disputes',
  navigation: 'Disputes',
  show: () => html`${ui.paragraph(html`Four fixed records, the same for every account, as ${ui.code('GET /v1/disputes')} returns them. Their payments do not exist here.`)}
${ui.wideTable(samples, {
  caption: 'Disputes, newest first',
  columns: {
    Reason: ({ reason }) => reason.replaceAll('_', ' '),
    Status: ({ status }) => status.replaceAll('_', ' '),
    Amount: ui.numeric(({ amount }) => inPounds(amount)),
    'Date created': ({ created_date }) => created_date.slice(0, 10),
    'Evidence due': ({ evidence_due_date }) => evidence_due_date.slice(0, 10),
    Settled: ({ settled_date }) => settled_date ?? 'not settled',
    'Dispute ID': ({ dispute_id }) => ui.code(dispute_id),
  },
})}`,
})
