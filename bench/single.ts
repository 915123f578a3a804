/** P1 to P4: one kind of work at a time, on one SQLite file. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tls from 'node:tls'
import { authority, certificates } from '../test/support/certificates.ts'
import { newFolder, removeFolder } from './folders.ts'
import { connect, LENGTH, load } from './load.ts'
import { type Bench, compare, comparedFigure, type Figure, steadyTurns, warmUp } from './measure.ts'
import { answerSizes, creating, expect, journey, reading, requestsOf } from './requests.ts'
import { KEY, type Server, startBare, startFarthing, startFloor } from './servers.ts'

const CONNECTIONS = 64
const P1 = { least: 0.3, prize: 0.4 }

/** Farthing on a new SQLite file, and a floor whose responses have the same length. */
async function startPair(env: Record<string, string> = {}) {
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

export async function createAndRead({ step, scale }: Bench): Promise<Figure[]> {
  const { farthing, floor, folder, stop } = await startPair()
  const bare = await startBare(folder, await sizesOf(farthing))
  const ids: string[] = []
  const creators = [
    { server: floor, work: creating() },
    { server: farthing, work: creating(ids) },
    { server: bare, work: creating() },
  ]
  step('P1: warming up')
  for (const each of creators) await warmUp(each, 60_000 * scale)
  step('P1: creating payments')
  const created = await compare(creators, steadyTurns(scale))
  const [rss, rssBare] = [farthing.rss(), bare.rss()]
  await bare.stop()

  step('P2: making 100,000 payments to read')
  const rows = 100_000 * scale
  if (ids.length < rows)
    await load(farthing.port, CONNECTIONS, { units: rows - ids.length }, creating(ids))
  const readers = [
    { server: floor, work: reading(ids.slice(0, rows)) },
    { server: farthing, work: reading(ids.slice(0, rows)) },
  ]
  for (const each of readers) await warmUp(each, 150_000 * scale)
  step('P2: reading payments')
  const read = await compare(readers, steadyTurns(scale))
  const [post, get] = ['the floor, POST', 'the floor, GET']
  const row = 'the same row by a server that only keeps it'
  const figures = [
    comparedFigure('P1', 'POST /v1/payments', created, { against: post, rss, ...P1 }),
    comparedFigure('P1', row, created, { of: 2, against: post, rss: rssBare }),
    comparedFigure('P1', 'POST /v1/payments', created, { to: 2, against: row, least: 0.75 }),
    comparedFigure('P2', `GET /v1/payments/{id}, any of ${rows}`, read, {
      against: get,
      rss: farthing.rss(),
      least: 0.38,
      prize: 0.45,
    }),
  ]
  await stop()
  return figures
}

/** P3 without and P4 with a webhook; the floor's unit is one POST. */
export async function journeys({ step, scale }: Bench): Promise<Figure[]> {
  const plain = await startPair()
  const receiver = await startReceiver()
  const hooked = await startPair(receiver.env)
  await register(hooked.farthing, receiver)
  const contenders = [
    { server: plain.floor, work: creating() },
    { server: plain.farthing, work: journey() },
    { server: hooked.farthing, work: journey(receiver.check) },
  ]
  step('P3 and P4: warming up')
  for (const each of contenders) await warmUp(each, 15_000 * scale)
  step('P3 and P4: whole journeys, without and with a webhook')
  const made = await compare(contenders, steadyTurns(scale))
  const figures = [
    comparedFigure('P3', 'a whole journey: 5 requests', made, {
      against: 'the floor, POST',
      rss: plain.farthing.rss(),
      least: 0.055,
    }),
    comparedFigure('P4', 'the same with 2 messages to a webhook over TLS', made, {
      of: 2,
      to: 1,
      against: 'P3',
      rss: hooked.farthing.rss(),
      least: 0.42,
    }),
  ]
  for (const pair of [plain, hooked]) await pair.stop()
  await receiver.close()
  return figures
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

export async function register(
  { port }: Server,
  { url: callback_url }: { url: string },
  key = KEY,
  subscriptions = ['card_payment_succeeded', 'card_payment_captured'],
): Promise<void> {
  const { send, close } = await connect(port)
  const { post } = requestsOf(key)
  expect(await send(post('/v1/webhooks', { callback_url, subscriptions })), 201)
  close()
}

const RECEIVED = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

/**
 * Receives webhooks over TLS on bare sockets in the load process. `check` throws if a payment did not get its two
 * messages.
 */
export async function startReceiver() {
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
  const host = `localhost:${typeof bound === 'object' && bound ? bound.port : 0}`
  return {
    url: `https://${host}/hook`,
    /** Settings with which Farthing may send to this receiver. */
    env: { FARTHING_CALLBACK_HOSTS: host, NODE_EXTRA_CA_CERTS: file },
    check(id: string) {
      const count = messages.get(id) ?? 0
      messages.delete(id)
      if (count !== 2) throw new Error(`payment ${id} had ${count} messages`)
    },
    close: () => new Promise(resolve => server.close(resolve)),
  }
}
