/** The plot of docs/performance.md: bars in a self-contained SVG. */
import { writeFileSync } from 'node:fs'

const [WIDTH, LEFT, LONGEST] = [760, 120, 560]
const ROW = 44
const COLOUR = '#0072b2'

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y}" ${more}>${escaped(content)}</text>`

/** Draws one bar for each value, with the value behind it. */
export function drawBars(file: URL, title: string, values: [name: string, value: number][]): void {
  const most = Math.max(...values.map(([, value]) => value))
  const bars = values.flatMap(([name, value], row) => {
    const y = 60 + row * ROW
    const width = (value / most) * LONGEST
    return [
      text(LEFT - 8, y + 19, name, 'text-anchor="end"'),
      `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="28" fill="${COLOUR}"/>`,
      text(LEFT + width + 6, y + 19, String(Number(value.toPrecision(3)))),
    ]
  })
  const height = 60 + values.length * ROW + 24
  writeFileSync(
    file,
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#222">
<title>${escaped(title)}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${text(76, 28, title, 'font-size="16" font-weight="600"')}
${bars.join('\n')}
</svg>
`,
  )
}
