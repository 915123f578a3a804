import { inDigits } from '../../../core/money.ts'
import { iso, MINUTE } from '../../../core/time.ts'
import { details } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { MINUTES, type Minute, type Traffic } from '../../record/traffic-store.ts'
import { counted, numeric, paragraph, wideTable } from '../frame/parts.ts'

/** Units of the picture, which is as wide as there is room. */
const WIDTH = 600
const HEIGHT = 120
const GAP = 6

const minuteOf = (ms: number): string => iso(ms).slice(11, 16)

export function trafficPart({ minutes, keptSince }: Traffic): Html {
  const sum = (count: 'requests' | 'refused' | 'unkept') =>
    minutes.reduce((all, minute) => all + minute[count], 0)
  const [requests, refused, unkept] = [sum('requests'), sum('refused'), sum('unkept')]
  const text = `${counted(requests, 'request')} to /v1, ${inDigits(refused)} of them refused`
  return html`${paragraph(html`<strong id="requests-made">${inDigits(requests)}</strong> ${requests === 1 ? 'request' : 'requests'} to /v1, <strong id="requests-refused">${inDigits(refused)}</strong> of them refused.`)}
${unkept > 0 && paragraph(`${inDigits(unkept)} more requests, page steps and attempts were only counted, because there were too many to record.`)}
${keptSince !== undefined && paragraph(`The record is full, so it begins at ${iso(keptSince)}: what came before is not counted here.`)}
${bars(minutes, text)}
${details('The bars as a table', table(minutes))}`
}

function bars(minutes: readonly Minute[], text: string): Html {
  const most = Math.max(0, ...minutes.map(({ requests }) => requests))
  const from = minuteOf(minutes[0]?.from ?? 0)
  const to = minuteOf((minutes.at(-1)?.from ?? 0) + MINUTE)
  return html`<svg class="farthing-bars" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="bars-title" xmlns="http://www.w3.org/2000/svg">
<title id="bars-title">Requests a minute from ${from} to ${to} UTC: ${text}</title>
<path class="farthing-bars__line" d="M0 ${HEIGHT - 0.5}H${WIDTH}"></path>
${minutes.map((minute, i) => bar(minute, i, most))}</svg>
<p class="farthing-bars__ends"><span>${from}</span> <span>${to} UTC</span></p>
<p class="farthing-bars__key"><span class="farthing-bars__answered">answered</span> <span class="farthing-bars__refused">refused</span> ${most > 0 && html`<span>at most ${inDigits(most)} a minute</span>`}</p>`
}

/** The refused part is at the foot, and narrower, so that it can be told without its colour. */
function bar({ from, requests, refused }: Minute, position: number, most: number): Html {
  const width = WIDTH / MINUTES
  const height = (count: number) => (count === 0 ? 0 : Math.max(3, (count / most) * (HEIGHT - 4)))
  const [all, foot] = [height(requests), height(refused)]
  const x = position * width + GAP / 2
  const shape = (className: string, left: number, wide: number, high: number) =>
    html`<rect class="${className}" x="${round(left)}" y="${round(HEIGHT - high)}" width="${round(wide)}" height="${round(high)}"></rect>`
  return html`<g><title>${minuteOf(from)}: ${inDigits(requests)}, refused ${inDigits(refused)}</title>${
    requests > 0 && shape('farthing-bars__all', x, width - GAP, all)
  }${refused > 0 && shape('farthing-bars__foot', x + 6, width - GAP - 12, foot)}</g>
`
}

const round = (length: number): string => String(Math.round(length * 10) / 10)

const table = (minutes: readonly Minute[]): Html =>
  wideTable(minutes.toReversed(), {
    caption: 'Requests to /v1 by the minute, newest first',
    columns: {
      'Minute (UTC)': ({ from }) => minuteOf(from),
      Requests: numeric(({ requests }) => inDigits(requests)),
      Refused: numeric(({ refused }) => inDigits(refused)),
      'Only counted':
        minutes.some(({ unkept }) => unkept > 0) && numeric(({ unkept }) => inDigits(unkept)),
    },
  })
