/** P1 to P4: one kind of work at a time, on one SQLite file. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tls from 'node:tls'
import { authority, certificates } from '../test/support/certificates.ts'
import { newFolder, removeFolder } from './folders.ts'
import { connect, LENGTH, load } from './load.ts'
import { type Bench, compare, type Figure, steadyTurns, warmUp } from './measure.ts'
import { answerSizes, creating, expect, journey, post, reading } from './requests.ts'
import { type Server, startBare, startFarthing, startFloor } from './servers.ts'

const CONNECTIONS = 64
const WITHOUT_CONSOLE = { FARTHING_CONSOLE: 'false' }
/** What Farthing must reach of a server that only keeps the row. */
const BESIDE_ROW = 0.75
const CURVE = [1, 4, 16, 64, 256]

type Pair = { farthing: Server; floor: Server; folder: string; stop(): Promise<void> }

/** Farthing on a new SQLite file, and a floor whose responses have the same length. */
async function startPair(env: Record<string, string> = {}): Promise<Pair> {
  const folder = newFolder()
  const farthing = await startFarthing({ database: `sqlite:${join(folder, 'farthing.db')}`, env })
  const floor = await startFloor(await sizesOf(farthing))
  return {
    farthing,
    floor,
    folder,
    async stop() {
      await Promise.all([farthing.stop(), floor.stop()])
      removeFolder(folder)
    },
  }
}

export async function sizesOf(farthing: Server): Promise<{ post: number; get: number }> {
  const { send, close } = await connect(farthing.port)
  const sizes = await answerSizes(send)
  close()
  return sizes
}

export async function createAndRead(bench: Bench): Promise<Figure[]> {
  const { step, scale } = bench
  const { farthing, floor, folder, stop } = await startPair()
  const bare = await startBare(folder, await sizesOf(farthing))
  const quiet = await startPair(WITHOUT_CONSOLE)
  const [ids, quietIds]: [string[], string[]] = [[], []]
  const create = [
    { server: floor, work: creating() },
    { server: farthing, work: creating(ids) },
  ] as const
  const creators = [
    ...create,
    { server: bare, work: creating() },
    { server: quiet.farthing, work: creating(quietIds) },
  ]
  step('P1: warming up')
  for (const each of creators) await warmUp(each, 60_000 * scale)
  step('P1: creating payments')
  const created = await compare(creators, steadyTurns(scale))
  const [rssCreated, rssBare] = [farthing.rss(), bare.rss()]
  await bare.stop()

  step('P2: making 100,000 payments to read')
  const rows = 100_000 * scale
  for (const [{ port }, made] of [
    [farthing, ids],
    [quiet.farthing, quietIds],
  ] as const)
    if (made.length < rows)
      await load(port, CONNECTIONS, { units: rows - made.length }, creating(made))
  const some = ids.slice(0, rows)
  const read = [
    { server: floor, work: reading(some) },
    { server: farthing, work: reading(some) },
  ] as const
  const readers = [...read, { server: quiet.farthing, work: reading(quietIds.slice(0, rows)) }]
  for (const each of readers) await warmUp(each, 150_000 * scale)
  step('P2: reading payments')
  const got = await compare(readers, steadyTurns(scale))

  for (const connections of CURVE) {
    step(`throughput at ${connections} connections`)
    const limit = { connections, seconds: scale, rounds: 2 }
    const [creates, reads] = [await compare([...create], limit), await compare([...read], limit)]
    for (const [name, result, i] of [
      ['floor, POST', creates, 0],
      ['create', creates, 1],
      ['floor, GET', reads, 0],
      ['read', reads, 1],
    ] as const)
      bench.plot('connections', { name, x: connections, y: result.series[i]?.rate ?? 0 })
  }
  const figures = [
    figureOf('P1', 'POST /v1/payments', created, 'the floor, POST', {
      rows: ids.length,
      rss: rssCreated,
      target: `ratio >= 0.30 and >= ${BESIDE_ROW} of the next line, p99 <= 40 ms (prize: ratio >= 0.40)`,
      meets: ({ ratio, p99 }) =>
        ratio >= 0.3 && ratio >= BESIDE_ROW * (created.ratios[2] ?? 0) && p99 <= 40,
    }),
    figureOf('P1', 'the same row by a server that only keeps it', created, 'the floor, POST', {
      contender: 2,
      rows: created.series[2]?.units ?? 0,
      rss: rssBare,
      target: '',
      meets: () => null,
    }),
    figureOf('P1', 'POST /v1/payments, without the console', created, 'the floor, POST', {
      contender: 3,
      rows: quietIds.length,
      rss: quiet.farthing.rss(),
      target: '',
      meets: () => null,
    }),
    figureOf('P2', `GET /v1/payments/{id}, any of ${some.length}`, got, 'the floor, GET', {
      rows: ids.length,
      rss: farthing.rss(),
      target: 'ratio >= 0.38 (prize: 0.45)',
      meets: ({ ratio }) => ratio >= 0.38,
    }),
    figureOf('P2', 'the same without the console', got, 'the floor, GET', {
      contender: 2,
      rows: quietIds.length,
      rss: quiet.farthing.rss(),
      target: '',
      meets: () => null,
    }),
  ]
  await Promise.all([stop(), quiet.stop()])
  return figures
}

type Judgement = {
  rows: number
  rss: number
  target: string
  /** null if there is no target. */
  meets: (result: { ratio: number; p99: number }) => boolean | null
  /** The contender whose figure it is; by default the second. */
  contender?: number
}

/** The figure of a contender against the first. */
function figureOf(
  figure: string,
  what: string,
  { series, ratios }: Awaited<ReturnType<typeof compare>>,
  against: string,
  { meets, contender = 1, ...rest }: Judgement,
): Figure {
  const [floor] = series
  const own = series[contender] ?? { rate: 0, p50: 0, p99: 0, units: 0 }
  const { rate: value, p50, p99, units } = own
  const ratio = ratios[contender] ?? 0
  return {
    figure,
    what,
    value,
    unit: 'a second',
    floor: floor?.rate ?? 0,
    against,
    ratio,
    p50,
    p99,
    connections: CONNECTIONS,
    ...rest,
    met: meets({ ratio, p99 }),
    details: { units },
  }
}

/** P3 without and P4 with a webhook; the floor's unit is one POST. */
export async function journeys({ step, scale }: Bench): Promise<Figure[]> {
  const plain = await startPair()
  const receiver = await startReceiver()
  const toReceiver = {
    FARTHING_CALLBACK_HOSTS: `localhost:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: receiver.authority,
  }
  const hooked = await startPair(toReceiver)
  const unrecorded = await startPair(WITHOUT_CONSOLE)
  const hookedUnrecorded = await startPair({ ...toReceiver, ...WITHOUT_CONSOLE })
  for (const { farthing } of [hooked, hookedUnrecorded]) await register(farthing, receiver.port)
  const bare = { server: plain.floor, work: creating() }
  const quiet = { server: plain.farthing, work: journey() }
  const telling = { server: hooked.farthing, work: journey(receiver.check) }
  step('P3 and P4: warming up')
  const quietOff = { server: unrecorded.farthing, work: journey() }
  const tellingOff = { server: hookedUnrecorded.farthing, work: journey(receiver.check) }
  for (const each of [bare, quiet, telling, quietOff, tellingOff])
    await warmUp(each, 15_000 * scale)
  const limit = steadyTurns(scale)
  step('P3: whole journeys')
  const made = await compare([bare, quiet, quietOff], limit)
  step('P4: whole journeys with a webhook')
  const told = await compare([quiet, telling], limit)
  const toldOff = await compare([quietOff, tellingOff], limit)
  const figures = [
    figureOf('P3', 'a whole journey: 5 requests', made, 'the floor, POST', {
      rows: made.series[1]?.units ?? 0,
      rss: plain.farthing.rss(),
      target: 'ratio >= 0.055',
      meets: ({ ratio }) => ratio >= 0.055,
    }),
    figureOf('P3', 'the same without the console', made, 'the floor, POST', {
      contender: 2,
      rows: made.series[2]?.units ?? 0,
      rss: unrecorded.farthing.rss(),
      target: '',
      meets: () => null,
    }),
    figureOf('P4', 'the same with 2 messages to a webhook over TLS', told, 'P3', {
      rows: told.series[1]?.units ?? 0,
      rss: hooked.farthing.rss(),
      target: 'ratio >= 0.42',
      meets: ({ ratio }) => ratio >= 0.42,
    }),
    figureOf('P4', 'with the webhook, without the console', toldOff, 'P3 without the console', {
      rows: toldOff.series[1]?.units ?? 0,
      rss: hookedUnrecorded.farthing.rss(),
      target: '',
      meets: () => null,
    }),
  ]
  for (const pair of [plain, hooked, unrecorded, hookedUnrecorded]) await pair.stop()
  await receiver.close()
  return figures
}

async function register(farthing: Server, port: number): Promise<void> {
  const { send, close } = await connect(farthing.port)
  const subscriptions = ['card_payment_succeeded', 'card_payment_captured']
  const body = { callback_url: `https://localhost:${port}/hook`, subscriptions }
  expect(await send(post('/v1/webhooks', body)), 201)
  close()
}

const RECEIVED = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

/**
 * Receives webhooks over TLS on bare sockets in the load process. `check` throws if a payment did not get
 * its two messages.
 */
async function startReceiver() {
  const messages = new Map<string, number>()
  const server = tls.createServer(certificates.valid, socket => {
    let received = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk
      const body = received.indexOf('\r\n\r\n') + 4
      const length = Number(LENGTH.exec(received)?.[1])
      if (body < 4 || received.length < body + length) return
      const id = /"resource_id":"(\w+)"/.exec(received)?.[1] ?? ''
      messages.set(id, (messages.get(id) ?? 0) + 1)
      received = ''
      socket.write(RECEIVED)
    })
    // `check` finds messages that a broken connection lost.
    socket.on('error', () => {})
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  const file = join(newFolder(), 'authority.pem')
  writeFileSync(file, authority)
  return {
    port: typeof bound === 'object' && bound ? bound.port : 0,
    authority: file,
    check(id: string) {
      const count = messages.get(id) ?? 0
      messages.delete(id)
      if (count !== 2) throw new Error(`payment ${id} had ${count} messages`)
    },
    close: () => new Promise(resolve => server.close(resolve)),
  }
}
