/** Where the time of a request goes: a CPU profile of the service under load, by part. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder, removeFolder } from './folders.ts'
import { load, type Work } from './load.ts'
import { type Bench, type Figure, round } from './measure.ts'
import { creating, journey, reading } from './requests.ts'
import { SOURCES, startFarthing } from './servers.ts'

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
  startTime: number
}

const HTTP = 'HTTP and sockets'
const RULES = 'the rules of payments'

/** The part that a function belongs to, by its file. Native functions belong to their caller. */
const parts: [part: string, url: RegExp][] = [
  ['the log', /node_modules\/(pino|sonic-boom)|src\/log\.ts/],
  ['Fastify and its hooks', /node_modules\/|src\/(http|app|metrics)/],
  ['the database', /src\/database|worker_threads|internal\/worker|internal\/structured/],
  [HTTP, /^node:/],
  [RULES, /src\//],
]

/** Seconds at the start that are left out, because code is still being optimised. */
const SKIPPED = 2

export async function timeOfARequest({ step, scale, plot }: Bench): Promise<Figure[]> {
  const ids: string[] = []
  const works: [string, () => Work][] = [
    ['create', () => creating()],
    ['read', () => reading(ids)],
    ['journey', () => journey()],
  ]
  for (const [name, work] of works) {
    step(`profile: ${name}`)
    const folder = newFolder()
    const flags = ['--cpu-prof', '--cpu-prof-interval', '250', '--cpu-prof-dir', folder, SOURCES]
    const database = `sqlite:${join(folder, 'farthing.db')}`
    const farthing = await startFarthing({ database, command: [process.execPath, ...flags] })
    const seconds = Math.max(1, 3 * scale)
    await load(farthing.port, 64, { seconds: SKIPPED }, name === 'read' ? creating(ids) : work())
    const from = micros()
    const { units } = await load(farthing.port, 64, { seconds }, work())
    const until = micros()
    await farthing.stop()
    for (const [part, spent] of Object.entries(timeSpent(folder, from, until)))
      plot('profile', { name, part, y: round(spent / units, 2) })
    removeFolder(folder)
  }
  return []
}

/** The monotonic clock in microseconds, as in the profile. */
const micros = (): number => Number(process.hrtime.bigint() / 1000n)

/** Microseconds of the main thread between two times, by part. */
function timeSpent(folder: string, from: number, until: number): Record<string, number> {
  const profiles = readdirSync(folder)
    .filter(name => name.endsWith('.cpuprofile'))
    .map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile) // Node wrote it
  const main = profiles.find(({ nodes }) =>
    nodes.some(({ callFrame }) => callFrame.url.includes('fastify')),
  )
  if (!main) throw new Error('there is no profile')
  const owner = owners(main)
  const sums: Record<string, number> = {}
  let at = main.startTime
  for (const [i, delta] of main.timeDeltas.entries()) {
    at += delta
    const part = owner.get(main.samples[i] ?? 0)
    if (part && at > from && at <= until) sums[part] = (sums[part] ?? 0) + delta
  }
  return sums
}

/** The part of each node of the profile; none for idle time. */
function owners({ nodes }: Profile): Map<number, string> {
  const owner = new Map<number, string>()
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map(child => [child, id])),
  )
  for (const { id, callFrame } of nodes) {
    const { functionName, url } = callFrame
    if (functionName === '(idle)') continue
    const inherited = owner.get(parents.get(id) ?? 0)
    const part = parts.find(([, pattern]) => pattern.test(url))?.[0]
    if (functionName === '(garbage collector)') owner.set(id, 'collecting garbage')
    else owner.set(id, (url ? part : inherited) ?? HTTP)
  }
  return owner
}
