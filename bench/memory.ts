/** P8: resident memory after a million payments. */
import { join } from 'node:path'
import { newFolder, removeFolder } from './folders.ts'
import { load, percentile } from './load.ts'
import { type Bench, type Figure, round } from './measure.ts'
import { creating } from './requests.ts'
import { startFarthing } from './servers.ts'

const PORTION = 50_000

export async function afterAMillion({ step, scale }: Bench): Promise<Figure[]> {
  const rows = 1_000_000 * scale
  const folder = newFolder()
  const farthing = await startFarthing({ database: `sqlite:${join(folder, 'farthing.db')}` })
  const times: number[] = []
  let most = 0
  const began = performance.now()
  for (let made = 0; made < rows; made += PORTION) {
    step(`P8: creating ${rows} payments, ${made} are there`)
    const run = await load(farthing.port, 64, { units: Math.min(PORTION, rows - made) }, creating())
    for (const time of run.times) times.push(time)
    most = Math.max(most, farthing.rss())
  }
  const rss = farthing.rss()
  const seconds = (performance.now() - began) / 1000
  await farthing.stop()
  removeFolder(folder)
  return [
    {
      figure: 'P8',
      what: `resident memory after ${rows} payments were created`,
      value: rss,
      unit: 'MB',
      connections: 64,
      rows,
      rss,
      p50: round(percentile(times, 0.5), 2),
      p99: round(percentile(times, 0.99), 2),
      target: '<= 190 MB',
      met: rss <= 190,
      details: {
        most,
        seconds: round(seconds),
        rate: round(rows / seconds),
        slowest: round(percentile(times, 1)),
      },
    },
  ]
}
