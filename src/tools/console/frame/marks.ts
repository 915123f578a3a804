/** A row of marks: one look says how many deliveries went well. Each is a sign with a text, not a colour alone. */
import type { ShownStatus } from '../../../pay/webhooks/message-store.ts'
import { type Html, html } from '../../../platform/web/html.ts'

type MarkStatus = ShownStatus | 'sent again' | 'none'

export type Mark = {
  status: MarkStatus
  /** Read out, and shown when the pointer is on the mark. */
  text: string
  /** Read out after it. Somebody else may have written it. */
  detail: string
  href?: string | undefined
}

const signs: Record<MarkStatus, [sign: string, className: string]> = {
  SUCCESSFUL: ['✓', 'good'],
  'sent again': ['↻', 'good'],
  FAILED: ['✗', 'bad'],
  PENDING: ['…', 'open'],
  'not listening': ['–', 'open'],
  none: ['–', 'open'],
}

export const marksRow = (label: string, marks: readonly Mark[]): Html =>
  html`<ol class="farthing-marks" role="list" aria-label="${label}">
${marks.map(({ status, text, detail, href }) => {
  const [sign, className] = signs[status]
  const content = html`<span aria-hidden="true">${sign}</span><bdi class="govuk-visually-hidden">${text}: ${detail}</bdi>`
  const look = `farthing-mark farthing-mark--${className}`
  return href === undefined
    ? html`<li class="${look}" title="${text}">${content}</li>\n`
    : html`<li><a class="${look}" title="${text}" href="${href}">${content}</a></li>\n`
})}</ol>`
