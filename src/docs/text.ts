/**
 * The part of CommonMark that the descriptions are written in, as HTML: paragraphs, lists, tables, headings,
 * fenced code, and `code` within a line.
 */
import { type Html, html, type Part } from '../web/html.ts'

/** A whole description. */
export function blocks(text: string): Html {
  const parts: Html[] = []
  const lines = text.split('\n')
  while (lines.length > 0) {
    const [line = ''] = lines
    if (line === '') lines.shift()
    else parts.push(block(line, lines))
  }
  return html`${parts}`
}

/** The headings of a whole description. */
export const headingsIn = (text: string): string[] =>
  [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading)

/** One line without blocks. */
export function inline(text: string): Part[] {
  return text
    .split(/(`[^`]+`)/)
    .map(piece => (piece.startsWith('`') ? code(piece.slice(1, -1)) : breakable(piece)))
}

export const code = (text: string): Html => html`<code>${text}</code>`

/** Text whose long names may break after an underscore and before an inner capital. */
export const breakable = (text: string): Html =>
  html`${text.split(/(?<=_)|(?<=[a-z])(?=[A-Z])/).map((piece, n) => html`${n > 0 && html`<wbr>`}${piece}`)}`

export const fieldName = (name: string): Html => html`<code>${breakable(name)}</code>`

export const listing = (text: string): Html => html`<pre class="docs-listing">${text}</pre>`

/** Takes the block that begins with the first of `lines` from them. */
function block(line: string, lines: string[]): Html {
  if (line.startsWith('```')) {
    lines.shift()
    const text = take(lines, next => !next.startsWith('```'))
    lines.shift()
    return listing(text.join('\n'))
  }
  if (line.startsWith('## ')) {
    lines.shift()
    return html`<h2 class="govuk-heading-m" id="${anchor(line.slice(3))}">${line.slice(3)}</h2>\n`
  }
  if (line.startsWith('- ')) {
    const items = take(lines, next => next.startsWith('- ')).map(item => item.slice(2))
    return html`<ul class="govuk-list govuk-list--bullet">
${items.map(item => html`<li>${inline(item)}</li>\n`)}</ul>\n`
  }
  if (line.startsWith('| ')) return tableOf(take(lines, next => next.startsWith('|')))
  const paragraph = take(lines, next => next !== '' && !/^(```|- |\| |## )/.test(next))
  return html`<p class="govuk-body">${inline(paragraph.join(' '))}</p>\n`
}

function take(lines: string[], belongs: (line: string) => boolean): string[] {
  const end = lines.findIndex(line => !belongs(line))
  return lines.splice(0, end === -1 ? lines.length : end)
}

function tableOf(lines: string[]): Html {
  const [head = [], , ...rows] = lines.map(line => line.slice(2, -2).split(' | '))
  const cells = rows.map(row => row.map(cell => inline(cell)))
  return table('codes', head.join(', '), head, cells)
}

/** `columns`: how wide they are. `caption`: for who hears the page and goes from table to table. */
export function table(
  columns: 'fields' | 'answers' | 'codes',
  caption: string,
  head: string[],
  rows: Part[][],
): Html {
  return html`<table class="docs-table docs-table--${columns}">
<caption class="govuk-visually-hidden">${caption}</caption>
<thead><tr>${head.map(cell => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>
${rows.map(
  ([first, ...others]) =>
    html`<tr><th scope="row">${first}</th>${others.map(cell => html`<td>${cell}</td>`)}</tr>\n`,
)}</tbody>
</table>\n`
}

/** The id of a heading. */
export const anchor = (heading: string): string => heading.toLowerCase().replace(/[^a-z0-9]+/g, '-')
