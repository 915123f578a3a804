/** N1: what the recorder costs. The same service with and without it, in turn. */
import { join } from 'node:path'
import { newFolder, removeFolder } from './folders.ts'
import type { Work } from './load.ts'
import { type Bench, compare, type Figure, warmUp } from './measure.ts'
import { creating, journey } from './requests.ts'
import { startFarthing } from './servers.ts'

const CONNECTIONS = 64

/** How many units warm a server up: enough to use up what the recorder admits at once. */
const kinds: { what: string; warm: number; work: () => Work }[] = [
  { what: 'POST /v1/payments, recorded', warm: 60_000, work: creating },
  { what: 'a whole journey, recorded', warm: 15_000, work: journey },
]

export async function recording({ step, scale }: Bench): Promise<Figure[]> {
  const folder = newFolder()
  const start = (name: string) =>
    startFarthing({
      database: `sqlite:${join(folder, `${name}.db`)}`,
      env: { FARTHING_CONSOLE: String(name === 'on') },
    })
  const servers = [await start('off'), await start('on')]
  const figures: Figure[] = []
  for (const { what, warm, work } of kinds) {
    step(`N1: ${what}`)
    const contenders = servers.map(server => ({ server, work: work() }))
    for (const each of contenders) await warmUp(each, warm * scale)
    const limit = { connections: CONNECTIONS, seconds: scale / 2 }
    const { series, ratios } = await compare(contenders, limit)
    const ratio = ratios[1] ?? 0
    figures.push({
      ...{ figure: 'N1', what, value: series[1]?.rate ?? 0, unit: 'a second' },
      ...{ floor: series[0]?.rate ?? 0, against: 'the same without the recorder', ratio },
      ...{ p50: series[1]?.p50 ?? 0, p99: series[1]?.p99 ?? 0, connections: CONNECTIONS },
      ...{ target: 'ratio >= 0.95', met: ratio >= 0.95 },
    })
  }
  for (const server of servers) await server.stop()
  removeFolder(folder)
  return figures
}
