import assert from 'node:assert/strict'
import type { Server, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import {
  LEAVING_BYTES,
  SEARCH_BYTES,
  SEARCHES_AT_WORK,
  SEARCHES_OF_ACCOUNT,
  SEARCHES_WAITING,
  SLICE_MS,
  TURN_WAIT_MS,
} from '../../../src/core/budgets.ts'
import { createLeaving, SMALL_BYTES } from '../../../src/platform/http/leaving.ts'
import { longJson } from '../../../src/platform/http/long-json.ts'
import { decorateRequests } from '../../../src/platform/http/request-state.ts'
import type { Answer } from '../../support/client.ts'
import { createGate } from '../../support/gate.ts'
import { createLargePayments, searchBytes } from '../../support/large-payments.ts'
import { open, parseAnswer } from '../../support/raw-http.ts'
import { startService } from '../../support/service.ts'

/** The payments of the longest page. Only the query of a search has this number among its values. */
const LONGEST_PAGE = 500

async function startGated(t: TestContext) {
  const gate = createGate()
  const service = await startService('sqlite', {
    env: { FARTHING_CONSOLE: 'false' },
    ports: ({ database }) => ({
      database: {
        ...database,
        async query(sql, values) {
          if (values?.includes(LONGEST_PAGE)) await gate.wait()
          return database.query(sql, values)
        },
      },
    }),
  })
  const { server } = service.apps[0]?.server ?? assert.fail('no app')
  // A busy machine needs longer for all connections than a client may go without reading.
  server.setTimeout(0)
  t.after(async () => {
    gate.open()
    await service.stop()
  })
  return { ...service, connections: () => connectionsOf(server), gate }
}

const connectionsOf = (server: Server): Promise<number> =>
  promisify((done: (error: Error | null, count: number) => void) => server.getConnections(done))()

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await setImmediate()
}

const isRefused = ({ status, headers, body }: Answer): void => {
  assert.equal(status, 503)
  assert.equal(headers.get('retry-after'), '1')
  assert.equal(body.code, 'P0999')
}

const ALL = SEARCHES_OF_ACCOUNT + SEARCHES_WAITING

test('Of an account 4 searches read rows at once, 64 wait and one more is 503 at once; small requests pass them all, and searches of others take their places, and give them back if their client leaves', async t => {
  const { newAccount, gate, baseUrl, connections } = await startGated(t)
  const [greedy, stranger] = [await newAccount(), await newAccount()]
  const { payment_id } = await stranger.createPayment()
  gate.close()
  const second = await newAccount()
  const others = Array.from({ length: SEARCHES_AT_WORK - SEARCHES_OF_ACCOUNT }, () =>
    second.get('/v1/payments'),
  )
  await until(() => gate.waiting() === others.length)
  const answers: Answer[] = []
  const search = () => greedy.get('/v1/payments').then(answer => answers.push(answer))
  const searches = Array.from({ length: ALL + 1 }, search)
  await until(() => answers.length > 0 && gate.waiting() === SEARCHES_AT_WORK)
  const path = `/v1/payments/${payment_id}`
  assert.equal((await stranger.get(path)).status, 200)
  assert.equal((await stranger.get(`${path}/events`)).status, 200)
  assert.equal((await stranger.post(`${path}/cancel`)).status, 204)
  assert.equal(answers.length, 1)

  const other = stranger.get('/v1/payments')
  await until(() => answers.length === 2)

  const sockets = await Promise.all([open(baseUrl), open(baseUrl)])
  for (const socket of sockets) socket.write(searchBytes(stranger))
  await until(() => answers.length === 4)
  const before = await connections()
  for (const socket of sockets) socket.destroy()
  while ((await connections()) > before - sockets.length) await setImmediate()
  searches.push(search(), search(), search())
  await until(() => answers.length === 5)

  for (const answer of answers) isRefused(answer)
  gate.open()
  assert.equal((await other).status, 200)
  await Promise.all([...searches, ...others])
  const statuses = answers.slice(5).map(({ status }) => status)
  assert.deepEqual(statuses, Array(ALL - 1).fill(200))
})

test('A search waits 20 seconds for its turn, then it is 503', async t => {
  const { gate, newAccount } = await startGated(t)
  const api = await newAccount()
  gate.close()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answers: Answer[] = []
  const searches = Array.from({ length: ALL + 1 }, () =>
    api.get('/v1/payments').then(answer => answers.push(answer)),
  )
  await until(() => answers.length === 1)
  t.mock.timers.tick(TURN_WAIT_MS - 1)
  await api.get('/healthz')
  assert.equal(answers.length, 1)
  t.mock.timers.tick(1)
  await until(() => answers.length === 1 + SEARCHES_WAITING)
  for (const answer of answers) isRefused(answer)
  t.mock.timers.reset()
  gate.open()
  await Promise.all(searches)
})

test('Pages that nobody reads take at most their bytes, the next is 503 before rows are read, and none is cut', async t => {
  const { baseUrl, gate, newAccount } = await startGated(t)
  const [greedy, stranger] = [await newAccount(), await newAccount()]
  await createLargePayments(greedy, 500)
  const { payment_id } = await stranger.createPayment()
  const size = (await greedy.get('/v1/payments')).text.length
  const unread: Socket[] = []
  for (let status = 200; status === 200; ) {
    const socket = await open(baseUrl)
    socket.pause().write(searchBytes(greedy))
    unread.push(socket)
    status = await firstStatus(socket)
  }
  const pages = unread.length - 1
  // The system buffers some of the bytes, which are not counted.
  assert.ok(pages * size <= LEAVING_BYTES, `${pages} pages of ${size} bytes`)
  assert.ok(2 * pages * size + SEARCH_BYTES > LEAVING_BYTES, `only ${pages} pages`)

  gate.close()
  isRefused(await greedy.get('/v1/payments'))
  assert.equal(gate.waiting(), 0)
  gate.open()
  assert.equal((await greedy.createPayment()).amount, 4650)
  assert.equal((await stranger.get('/v1/payments')).body.results[0].payment_id, payment_id)

  const [refused, ...answers] = (await Promise.all(unread.map(read))).reverse()
  isRefused(parseAnswer(refused ?? assert.fail()))
  const [one = assert.fail()] = answers
  const { status, body } = parseAnswer(one)
  assert.deepEqual([status, body.results.length], [200, 500])
  const bodyOf = (bytes: Buffer) => bytes.subarray(headLength(bytes))
  for (const bytes of answers) assert.ok(bodyOf(bytes).equals(bodyOf(one)), 'the same page')
  assert.equal((await greedy.get('/v1/payments')).status, 200)
})

/** The status of a response whose body stays unread. */
async function firstStatus(socket: Socket): Promise<number> {
  await until(() => socket.readableLength > 0 || socket.closed)
  const begin: Buffer = socket.read()
  socket.unshift(begin)
  return Number(begin.toString('latin1', 9, 12))
}

const headLength = (bytes: Buffer): number => bytes.indexOf('\r\n\r\n') + 4

async function read(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = []
  let missing = Number.POSITIVE_INFINITY
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece)
    const all = pieces.length === 1 ? piece.toString('latin1') : ''
    const length = /^content-length: (\d+)/im.exec(all)?.[1]
    if (length) missing = headLength(piece) + Number(length)
    missing -= piece.length
  })
  socket.resume()
  await until(() => missing <= 0 || socket.closed)
  socket.destroy()
  return Buffer.concat(pieces)
}

/** A server whose responses may have this number of bytes together. */
function startLeaving(mostBytes: number) {
  const app = fastify()
  const leaving = createLeaving(mostBytes)
  decorateRequests(app)
  app.addHook('onSend', (request: FastifyRequest, reply: FastifyReply, payload, done) => {
    const error = leaving.leave(request, reply, payload)
    if (error) done(error)
    else done(null, payload)
  })
  return app
}

test('A response is counted from 4 KB on, which may be fewer characters', async t => {
  const app = startLeaving(SMALL_BYTES)
  t.after(() => app.close())
  app.get('/small', async () => 'x'.repeat(SMALL_BYTES))
  app.get('/large', async () => '€'.repeat(SMALL_BYTES / 2))
  assert.equal((await app.inject('/small')).statusCode, 200)
  assert.equal((await app.inject('/large')).statusCode, 503)
})

test('Responses of any kind are counted, one Buffer of several once, and one that finds no room is 503', async t => {
  const app = startLeaving(40e6)
  const document = Buffer.alloc(15e6, 'x')
  app.get('/document', async () => document)
  app.get('/page', async () => 'x'.repeat(15e6))
  app.get('/small', async () => 'x')
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  t.after(() => app.close())
  const unread = async (path: string) => {
    const socket = await open(baseUrl)
    socket.pause().write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    return { socket, status: await firstStatus(socket) }
  }
  const documents = await Promise.all(Array.from({ length: 5 }, () => unread('/document')))
  assert.deepEqual(new Set(documents.map(({ status }) => status)), new Set([200]))
  assert.equal((await unread('/page')).status, 503)
  assert.equal((await unread('/small')).status, 200)
  const others = 2
  for (const { socket } of documents) socket.destroy()
  while ((await connectionsOf(app.server)) > others) await setImmediate()
  assert.equal((await unread('/page')).status, 200)
  assert.equal((await unread('/document')).status, 503)
})

test('The JSON of a long list is made in slices, and two lists never in the same turn of the event loop', async () => {
  const ITEMS = 60
  let turns = 0
  let goesOn = true
  const count = async () => {
    for (; goesOn; turns += 1) await setImmediate()
  }
  void count()
  const at: number[] = []
  const item = (id: number) => {
    const begun = performance.now()
    while (performance.now() - begun < 1);
    if (at.at(-1) !== turns) at.push(turns)
    return { id }
  }
  const list = () => ({ total: ITEMS, results: Array(ITEMS).keys().map(item), last: [] })
  const sizes: number[] = []
  const request = { turn: { add: (bytes: number) => void sizes.push(bytes) } }
  const reply = { type() {} }
  const make = () =>
    longJson(list(), request as unknown as FastifyRequest, reply as unknown as FastifyReply)
  const [one, other] = await Promise.all([make(), make()])
  goesOn = false
  assert.deepEqual(JSON.parse(String(one)), {
    total: ITEMS,
    results: Array.from({ length: ITEMS }, (_, id) => ({ id })),
    last: [],
  })
  assert.deepEqual(one, other)
  assert.ok(sizes.length >= (2 * ITEMS) / SLICE_MS)
  assert.equal(
    sizes.reduce((sum, size) => sum + size),
    one.length + other.length,
  )
  assert.ok(at.length >= (2 * ITEMS) / SLICE_MS - 2, `${at.length} turns`)
})
