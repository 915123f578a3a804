/** N1, N2, N11: what the recorder costs. The same service with and without it, in turn. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { newFolder, removeFolder } from './folders.ts'
import { connect, load, percentile, type Work } from './load.ts'
import { type Bench, compare, type Figure, round, steadyTurns, warmUp } from './measure.ts'
import { creating, journey } from './requests.ts'
import { type Server, startFarthing } from './servers.ts'

const CONNECTIONS = 64
/** Milliseconds. */
const AT_REST = 1_000

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
  step('N11: memory at rest')
  await setTimeout(AT_REST)
  const idle = servers.map(server => server.rss())
  // First, while everything is admitted.
  step('N2: journeys, 50 a second, all of them recorded')
  const figures = [await steadily(servers, scale)]
  for (const { what, warm, work } of kinds) {
    step(`N1: ${what}`)
    const contenders = servers.map(server => ({ server, work: work() }))
    for (const each of contenders) await warmUp(each, warm * scale)
    const { series, ratios } = await compare(contenders, steadyTurns(scale))
    const ratio = ratios[1] ?? 0
    figures.push({
      figure: 'N1',
      what,
      value: series[1]?.rate ?? 0,
      unit: 'a second',
      floor: series[0]?.rate ?? 0,
      against: 'the same without the recorder',
      ratio,
      p50: series[1]?.p50 ?? 0,
      p99: series[1]?.p99 ?? 0,
      connections: CONNECTIONS,
      target: 'ratio >= 0.95',
      met: ratio >= 0.95,
    })
  }
  figures.push(memory(idle, servers))
  for (const server of servers) await server.stop()
  removeFolder(folder)
  return figures
}

/** N11: the recorder holds 8 MB at most, whatever the load was. */
function memory(idle: number[], servers: Server[]): Figure {
  const [off = 0, on = 0] = idle
  const [offLater = 0, onLater = 0] = servers.map(server => server.rss())
  return {
    figure: 'N11',
    what: 'memory at rest, with the recorder',
    value: on,
    unit: 'MB',
    floor: off,
    against: 'the same without the recorder',
    rss: on,
    target: '<= 10 MB more',
    met: on - off <= 10,
    details: { afterLoad: onLater, afterLoadWithout: offLater },
  }
}

const A_SECOND = 50
/** Seconds for each server. */
const SECONDS = 10
/** Journeys before. With those of ten seconds they have fewer requests than the recorder admits. */
const WARM = 150

/** N2: an open loop, in which a journey begins every 20 ms. The servers take turns of a second. */
async function steadily(servers: Server[], scale: number): Promise<Figure> {
  const times = servers.map((): number[] => [])
  const work = journey()
  for (const { port } of servers) await load(port, 4, { units: WARM }, work)
  for (let turn = 0; turn < SECONDS * scale; turn++)
    for (const [i, { port }] of servers.entries()) {
      const open = await Promise.all(Array.from({ length: A_SECOND }, () => connect(port)))
      await Promise.all(
        open.map(async ({ send, close }, nth) => {
          await setTimeout((nth * 1_000) / A_SECOND)
          const began = performance.now()
          await work(send)
          times[i]?.push(performance.now() - began)
          close()
        }),
      )
    }
  const [off = 0, on = 0] = times.map(each => percentile(each, 0.5))
  const ratio = round(on / off, 3)
  return {
    figure: 'N2',
    what: 'a journey, 50 begun a second, recorded',
    unit: 'ms',
    value: round(on, 2),
    floor: round(off, 2),
    against: 'the same without the recorder',
    ratio,
    p50: round(on, 2),
    p99: round(percentile(times[1] ?? [], 0.99), 2),
    connections: A_SECOND,
    target: 'ratio <= 1.02',
    met: ratio <= 1.02,
  }
}
