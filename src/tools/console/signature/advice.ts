import { details } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Advice } from '../../explain/signature/advice.ts'
import { code, paragraph, untrusted, wideTable } from '../frame/parts.ts'

/** What to change in a receiver, with the calls of frameworks. */
export const advicePart = (advice: readonly Advice[]): Html =>
  html`${advice.map(
    ({ text, calls = [] }) => html`${paragraph(text)}
${
  calls.length > 0 &&
  wideTable({
    caption: 'The call that gives the bytes, by framework',
    columns: ['Framework', 'Call'],
    rows: calls.map(({ framework, call }) => [framework, code(call)]),
  })
}`,
  )}`

/** The signing key of a webhook, behind a line to open. */
export const keyPart = ({ webhook, signing_key }: { webhook: string; signing_key: string }): Html =>
  details(
    'Show the signing key',
    html`${paragraph(html`Of ${untrusted(webhook)}: ${code(signing_key)}`)}`,
    {
      id: 'signing-key',
    },
  )
