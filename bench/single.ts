/** P1 to P4: one kind of work at a time, on one SQLite file. */
import { writeFileSync } from 'node:fs'
import https from 'node:https'
import { join } from 'node:path'
import { authority, certificates } from '../test/support/certificates.ts'
import { connect, load } from './load.ts'
import { type Bench, compare, type Figure, warmUp } from './measure.ts'
import { answerSizes, creating, expect, journey, post, reading } from './requests.ts'
import { newFolder, removeFolder, type Server, startFarthing, startFloor } from './servers.ts'

const CONNECTIONS = 64
const CURVE = [1, 4, 16, 64, 256]

type Pair = { farthing: Server; floor: Server; stop(): Promise<void> }

/** Farthing on a new SQLite file, and a floor that answers as many bytes as it does. */
export async function startPair(env: Record<string, string> = {}): Promise<Pair> {
  const folder = newFolder()
  const farthing = await startFarthing({ database: `sqlite:${join(folder, 'farthing.db')}`, env })
  const floor = await startFloor(await sizesOf(farthing))
  return {
    farthing,
    floor,
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
  const { farthing, floor, stop } = await startPair()
  const ids = new Set<string>()
  const create = [
    { server: floor, work: creating() },
    { server: farthing, work: creating(ids) },
  ] as const
  step('P1: warming up')
  for (const each of create) await warmUp(each, 60_000 * scale)
  step('P1: creating payments')
  const created = await compare([...create], { connections: CONNECTIONS, seconds: 2 * scale })
  const rssCreated = farthing.rss()

  step('P2: making 100,000 payments to read')
  const missing = 100_000 * scale - ids.size
  if (missing > 0) await load(farthing.port, CONNECTIONS, { units: missing }, creating(ids))
  const some = [...ids].slice(0, 100_000 * scale)
  const read = [
    { server: floor, work: reading(some) },
    { server: farthing, work: reading(some) },
  ] as const
  for (const each of read) await warmUp(each, 150_000 * scale)
  step('P2: reading payments')
  const got = await compare([...read], { connections: CONNECTIONS, seconds: 2 * scale })

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
      rows: ids.size,
      rss: rssCreated,
      target: 'ratio >= 0.40, p99 <= 40 ms',
      meets: ({ ratio, p99 }) => ratio >= 0.4 && p99 <= 40,
    }),
    figureOf('P2', `GET /v1/payments/{id}, any of ${some.length}`, got, 'the floor, GET', {
      rows: ids.size,
      rss: farthing.rss(),
      target: 'ratio >= 0.45',
      meets: ({ ratio }) => ratio >= 0.45,
    }),
  ]
  await stop()
  return figures
}

type Judgement = {
  rows: number
  rss: number
  target: string
  meets: (result: { ratio: number; p99: number }) => boolean
}

/** The second of two contenders against the first. */
export function figureOf(
  figure: string,
  what: string,
  { series, ratios }: Awaited<ReturnType<typeof compare>>,
  against: string,
  { meets, ...rest }: Judgement,
): Figure {
  const [floor, own] = series
  const { rate: value, p50, p99, units } = own ?? { rate: 0, p50: 0, p99: 0, units: 0 }
  const ratio = ratios[1] ?? 0
  return {
    ...{ figure, what, value, unit: 'a second', floor: floor?.rate ?? 0, against, ratio, p50, p99 },
    ...{ connections: CONNECTIONS, ...rest, met: meets({ ratio, p99 }), details: { units } },
  }
}

/** P3 without a webhook and P4 with one, side by side; the floor's unit is one POST. */
export async function journeys({ step, scale }: Bench): Promise<Figure[]> {
  const plain = await startPair()
  const receiver = await startReceiver()
  const hooked = await startPair({
    FARTHING_CALLBACK_HOSTS: `localhost:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: receiver.authority,
  })
  await register(hooked.farthing, receiver.port)
  const contenders = [
    { server: plain.floor, work: creating() },
    { server: plain.farthing, work: journey() },
    { server: hooked.farthing, work: journey(receiver.check) },
  ]
  step('P3 and P4: warming up')
  for (const each of contenders) await warmUp(each, 15_000 * scale)
  step('P3 and P4: whole journeys, without a webhook and with one')
  const limit = { connections: CONNECTIONS, seconds: 2.5 * scale }
  const { series, ratios } = await compare(contenders, limit)
  const [, one, two] = series
  const [, three = 0, four = 0] = ratios
  const figures = [
    figureOf('P3', 'a whole journey: 5 requests', { series, ratios }, 'the floor, POST', {
      rows: one?.units ?? 0,
      rss: plain.farthing.rss(),
      target: 'ratio >= 0.06',
      meets: ({ ratio }) => ratio >= 0.06,
    }),
    figureOf(
      'P4',
      'the same with 2 messages to a webhook over TLS',
      { series: [one, two].flatMap(each => each ?? []), ratios: [1, four / three] },
      'P3',
      {
        rows: two?.units ?? 0,
        rss: hooked.farthing.rss(),
        target: 'ratio >= 0.5',
        meets: ({ ratio }) => ratio >= 0.5,
      },
    ),
  ]
  await Promise.all([plain.stop(), hooked.stop()])
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

/** Receives webhooks over TLS in the load process; `check` throws when a payment has not had its two messages. */
async function startReceiver() {
  const messages = new Map<string, number>()
  const server = https.createServer(certificates.valid, (request, response) => {
    let body = ''
    request.setEncoding('latin1').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      const id = /"resource_id":"(\w+)"/.exec(body)?.[1] ?? ''
      messages.set(id, (messages.get(id) ?? 0) + 1)
      response.end()
    })
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
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    },
  }
}
