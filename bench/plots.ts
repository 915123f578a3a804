/** The plots of docs/notes/performance.md, as self-contained SVG. */
import { mkdirSync, writeFileSync } from 'node:fs'

type Point = Record<string, number | string>
type Series = { name: string; points: [x: number, y: number][] }

const [WIDTH, HEIGHT] = [760, 420]
const AREA = { left: 76, top: 56, right: 560, bottom: 356 }
/** Distinguishable for colour-blind people too. */
const COLOURS = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#4d4d4d',
  '#999',
]

const colour = (i: number): string => COLOURS[i % COLOURS.length] ?? '#000'
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(content)}</text>`

const line = (x1: number, y1: number, x2: number, y2: number, stroke: string): string =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${stroke}"/>`

function svg(title: string, parts: string[], height = HEIGHT): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#222">
<title>${escaped(title)}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${text(AREA.left, 28, title, 'font-size="16" font-weight="600"')}
${parts.join('\n')}
</svg>
`
}

/** 1 200 000 as 1.2M. */
const short = (value: number): string =>
  value >= 1e6 ? `${value / 1e6}M` : value >= 1e3 ? `${value / 1e3}k` : String(value)

/** The grid lines of a scale from 0 to `most`. */
function ticks(most: number): number[] {
  const rough = most / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough) ?? rough
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) =>
    Number((i * step).toPrecision(3)),
  )
}

type Axes = { title: string; x: string; y: string }

/** Lines over a logarithmic x. */
function lines({ title, x, y }: Axes, series: Series[]): string {
  const xs = [...new Set(series.flatMap(({ points }) => points.map(([at]) => at)))].sort(
    (a, b) => a - b,
  )
  const most = Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value))) * 1.05
  const [low, high] = [Math.log(xs[0] ?? 1), Math.log(xs.at(-1) ?? 2)]
  const across = (at: number) =>
    AREA.left + ((Math.log(at) - low) / (high - low || 1)) * (AREA.right - AREA.left)
  const up = (value: number) => AREA.bottom - (value / most) * (AREA.bottom - AREA.top)
  const parts = [
    ...ticks(most).flatMap(value => [
      line(AREA.left, up(value), AREA.right, up(value), '#ddd'),
      text(AREA.left - 8, up(value) + 4, short(value), 'text-anchor="end"'),
    ]),
    ...xs.map(at => text(across(at), AREA.bottom + 20, short(at), 'text-anchor="middle"')),
    text((AREA.left + AREA.right) / 2, AREA.bottom + 44, x, 'text-anchor="middle"'),
    text(AREA.left, 48, y, 'fill="#555"'),
    ...series.flatMap(({ name, points }, i) => {
      const path = points.map(([at, value]) => `${across(at).toFixed(1)},${up(value).toFixed(1)}`)
      return [
        `<polyline points="${path.join(' ')}" fill="none" stroke="${colour(i)}" stroke-width="2"/>`,
        ...path.map(at => `<circle cx="${at.replace(',', '" cy="')}" r="3" fill="${colour(i)}"/>`),
        line(AREA.right + 20, 70 + i * 24, AREA.right + 44, 70 + i * 24, colour(i)),
        text(AREA.right + 52, 74 + i * 24, name),
      ]
    }),
  ]
  return svg(title, parts)
}

/** One bar per group, its parts side by side; `unit` follows the numbers. */
function bars(title: string, unit: string, groups: Series[], names: string[]): string {
  const most = Math.max(...groups.map(({ points }) => points.reduce((sum, [, y]) => sum + y, 0)))
  const wide = (value: number) => (value / most) * 560
  const parts = groups.flatMap(({ name, points }, row) => {
    const y = 60 + row * 44
    const sum = points.reduce((all, [, value]) => all + value, 0)
    let x = 120
    const drawn = points.map(([part, value]) => {
      const width = wide(value)
      const label =
        width > 30 && points.length > 1
          ? text(
              x + width / 2,
              y + 19,
              String(Number(value.toPrecision(2))),
              'text-anchor="middle" fill="#fff"',
            )
          : ''
      const rect = `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="28" fill="${colour(part)}"/>`
      x += width
      return rect + label
    })
    return [
      text(112, y + 19, name, 'text-anchor="end"'),
      ...drawn,
      text(x + 6, y + 19, `${Number(sum.toPrecision(3))} ${unit}`),
    ]
  })
  const under = 60 + groups.length * 44 + 24
  const legend = names.flatMap((name, i) => {
    const [x, y] = [120 + (i % 3) * 205, under + Math.floor(i / 3) * 24]
    return [
      `<rect x="${x}" y="${y - 11}" width="14" height="14" fill="${colour(i)}"/>`,
      text(x + 20, y, name),
    ]
  })
  return svg(title, [...parts, ...legend], under + Math.ceil(names.length / 3) * 24)
}

function seriesOf(points: Point[]): Series[] {
  const byName = Map.groupBy(points, ({ name }) => String(name))
  return [...byName].map(([name, each]) => ({
    name,
    points: each.map(({ x, y }): [number, number] => [Number(x), Number(y)]),
  }))
}

/** Draws the plots that have points; the others stay as they are. */
export function drawPlots(points: Record<string, Point[]>, folder: URL): void {
  mkdirSync(folder, { recursive: true })
  const draw = (name: string, drawing: string) =>
    writeFileSync(new URL(`bench-${name}.svg`, folder), drawing)
  if (points.connections)
    draw(
      'connections',
      lines(
        { title: 'Throughput', x: 'connections', y: 'requests a second' },
        seriesOf(points.connections),
      ),
    )
  if (points.growth)
    draw(
      'growth',
      lines(
        { title: 'Latency at 64 connections', x: 'payments in the database', y: 'milliseconds' },
        seriesOf(points.growth),
      ),
    )
  if (points.profile) {
    const names = [...new Set(points.profile.map(({ part }) => String(part)))]
    const groups = [...Map.groupBy(points.profile, ({ name }) => String(name))].map(
      ([name, each]): Series => ({
        name,
        points: each.map(({ part, y }) => [names.indexOf(String(part)), Number(y)]),
      }),
    )
    draw('profile', bars('Where the time of one request goes', 'µs', groups, names))
  }
  if (points.peers) {
    const groups = points.peers.map(
      ({ name, y }): Series => ({ name: String(name), points: [[0, Number(y)]] }),
    )
    draw('peers', bars('Creating payments, Farthing in the same rounds being 1', '', groups, []))
  }
}
