/**
 * Creates payments at 64 connections on other stand-ins, in the same run. They are installed into
 * bench/peers on demand and are no dependency of the project.
 */
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newFolder, removeFolder } from './folders.ts'
import { type Answer, load, type Work } from './load.ts'
import { type Bench, type Contender, compare, comparedFigure, type Figure } from './measure.ts'
import { drawBars } from './plots.ts'
import { creating, newPayment, post } from './requests.ts'
import { type Server, start, startFarthing, startFloor } from './servers.ts'
import { sizesOf } from './single.ts'

const FOLDER = fileURLToPath(new URL('peers/', import.meta.url))
const PACKAGES = {
  mountebank: '2.9.1',
  'json-server': '0.17.4',
  '@mockoon/cli': '9.9.0',
  '@stoplight/prism-cli': '5.16.0',
  wiremock: '3.13.2',
}

/** A real response, for canned ones. */
type Sample = { body: object; openapi: string }

type Peer = {
  name: string
  version: string
  /** Where it keeps a payment. */
  keeps: string
  /** Recognises its responses. */
  answers: RegExp
  path?: string
  /** Units to warm it up. */
  warmUp?: number
  start(folder: string, port: number, sample: Sample): Promise<Server>
}

const CANNED = 'nothing: the answer is canned'
const bin = (path: string) => join(FOLDER, 'node_modules', path)

function json(folder: string, name: string, content: unknown): string {
  const file = join(folder, name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, JSON.stringify(content))
  return file
}

const node = (args: string[], port: number, cwd: string): Promise<Server> =>
  start(process.execPath, args, { NODE_ENV: 'production' }, { port, cwd, patience: 60_000 })

const peersKnown: Peer[] = [
  {
    name: 'WireMock',
    version: PACKAGES.wiremock,
    keeps: CANNED,
    answers: /"payment_id":"\w{26}"/,
    warmUp: 100_000,
    start(folder, port, { body }) {
      json(folder, 'mappings/create.json', {
        request: { method: 'POST', urlPath: '/v1/payments' },
        response: { status: 201, headers: { 'Content-Type': 'application/json' }, jsonBody: body },
      })
      const jar = bin(`wiremock/build/wiremock-standalone-${PACKAGES.wiremock}.jar`)
      const quiet = ['--no-request-journal', '--disable-banner']
      const args = ['-jar', jar, '--port', String(port), '--root-dir', folder, ...quiet]
      return start('java', args, {}, { port, cwd: folder, patience: 60_000 })
    },
  },
  {
    name: 'Mountebank',
    version: PACKAGES.mountebank,
    keeps: CANNED,
    answers: /"payment_id":\s*"\w{26}"/,
    start(folder, port, { body }) {
      const headers = { 'Content-Type': 'application/json', Connection: 'keep-alive' }
      const imposter = {
        port,
        protocol: 'http',
        recordRequests: false,
        stubs: [
          {
            predicates: [{ equals: { method: 'POST', path: '/v1/payments' } }],
            responses: [{ is: { statusCode: 201, headers, body } }],
          },
        ],
      }
      const file = json(folder, 'imposters.ejs', { imposters: [imposter] })
      const args = [bin('mountebank/bin/mb'), '--configfile', file, '--nologfile']
      const quiet = [
        '--loglevel',
        'error',
        '--port',
        String(port + 1),
        '--pidfile',
        join(folder, 'pid'),
      ]
      return node([...args, ...quiet], port, folder)
    },
  },
  {
    name: 'Prism',
    version: PACKAGES['@stoplight/prism-cli'],
    keeps: 'nothing: the answer is the example of /openapi.json, the request is validated by it',
    answers: /"payment_id":"\w{26}"/,
    start(folder, port, { openapi }) {
      const file = join(folder, 'openapi.json')
      writeFileSync(file, openapi)
      const args = [bin('@stoplight/prism-cli/dist/index.js'), 'mock', file, '-p', String(port)]
      return node([...args, '-h', '127.0.0.1', '-v', 'error', '--multiprocess=false'], port, folder)
    },
  },
  {
    name: 'Mockoon',
    version: PACKAGES['@mockoon/cli'],
    keeps: 'the payment, in memory',
    answers: /"id":\s*"[\w-]+"/,
    start(folder, port) {
      const file = json(folder, 'environment.json', mockoon(port))
      const args = [bin('@mockoon/cli/bin/run.js'), 'start', '--data', file, '--port', String(port)]
      return node([...args, '--disable-log-to-file'], port, folder)
    },
  },
  {
    name: 'json-server',
    version: PACKAGES['json-server'],
    keeps: 'the payment, in a file that is written anew for each',
    answers: /"id":\s*\d+/,
    path: '/payments',
    start(folder, port) {
      const file = json(folder, 'db.json', { payments: [] })
      const args = [bin('json-server/lib/cli/bin.js'), '--port', String(port), '--quiet', file]
      return node([...args, '--host', '127.0.0.1'], port, folder)
    },
  },
]

function mockoon(port: number): object {
  const bucket = 'payments'
  const answer = {
    uuid: 'a2',
    body: '{}',
    latency: 0,
    statusCode: 201,
    label: '',
    headers: [],
    bodyType: 'DATABUCKET',
    databucketID: bucket,
    filePath: '',
    sendFileAsBody: false,
    rules: [],
    rulesOperator: 'OR',
    disableTemplating: true,
    fallbackTo404: false,
    default: true,
    crudKey: 'id',
    callbacks: [],
  }
  const route = {
    uuid: 'a1',
    type: 'crud',
    documentation: '',
    method: '',
    endpoint: 'v1/payments',
    responses: [answer],
    responseMode: null,
    streamingMode: null,
    streamingInterval: 0,
  }
  return {
    uuid: 'a0',
    lastMigration: 33,
    name: 'payments',
    port,
    hostname: '127.0.0.1',
    endpointPrefix: '',
    latency: 0,
    folders: [],
    routes: [route],
    rootChildren: [{ type: 'route', uuid: 'a1' }],
    proxyMode: false,
    proxyHost: '',
    proxyRemovePrefix: false,
    cors: false,
    headers: [],
    proxyReqHeaders: [],
    proxyResHeaders: [],
    data: [{ uuid: 'a3', id: bucket, name: 'payments', documentation: '', value: '[]' }],
    tlsOptions: { enabled: false },
    callbacks: [],
  }
}

const creatingAt = (path: string, answers: RegExp): Work => {
  const right = (answer: Answer) => answer.status === 201 && answers.test(answer.body)
  return async send => {
    const answer = await send(post(path, newPayment()))
    if (!right(answer)) throw new Error(`${answer.status}: ${answer.body.slice(0, 200)}`)
  }
}

export async function peers(bench: Bench): Promise<Figure[]> {
  install(bench)
  const folder = newFolder()
  const farthing = await startFarthing({ database: `sqlite:${join(folder, 'farthing.db')}` })
  const floor = await startFloor(await sizesOf(farthing))
  const openapi = await fetch(`http://127.0.0.1:${farthing.port}/openapi.json`)
  const sample = { body: await samplePayment(farthing), openapi: await openapi.text() }
  const own = [
    { server: floor, work: creating() },
    { server: farthing, work: creating() },
  ]
  for (const each of own)
    await load(each.server.port, 64, { seconds: 2 * bench.scale, mayRest: true }, each.work)
  const figures: Figure[] = []
  for (const peer of peersKnown) {
    bench.step(`peers: ${peer.name}`)
    figures.push(await measurePeer(bench, peer, own, sample))
  }
  await Promise.all([farthing.stop(), floor.stop()])
  removeFolder(folder)
  return figures
}

/** In turn with the floor and Farthing, so that other load on the machine affects all equally. */
async function measurePeer(
  { scale }: Bench,
  peer: Peer,
  own: Contender[],
  sample: Sample,
): Promise<Figure> {
  const folder = newFolder()
  const server = await peer.start(folder, await freePort(), sample)
  const work = creatingAt(peer.path ?? '/v1/payments', peer.answers)
  const seconds = Math.max(0.5, scale)
  await load(server.port, 64, { seconds: 2 * seconds, mayRest: true }, work)
  if (peer.warmUp) await load(server.port, 64, { units: peer.warmUp * scale, mayRest: true }, work)
  const made = await compare([...own, { server, work }], {
    connections: 64,
    seconds,
    rounds: 5,
    pause: 500,
    mayRest: true, // some use more than one core
  })
  const rss = server.rss()
  await server.stop()
  removeFolder(folder)
  const what = `${peer.name} ${peer.version}`
  const figure = comparedFigure('peer', what, made, { of: 2, against: 'the floor, POST', rss })
  return { ...figure, details: { keeps: peer.keeps, farthing: made.ratio() } }
}

/** How many payments each makes for one of Farthing's. */
export function drawPeers(figures: Figure[], file: URL): void {
  const values = figures
    .filter(({ figure }) => figure === 'peer')
    .map(({ what, ratio = 0, details }): [string, number] => [
      what.replace(/ \S+$/, ''),
      ratio / Number(details?.farthing),
    ])
  if (values.length > 0)
    drawBars(file, 'Creating payments, Farthing in the same rounds being 1', [
      ['Farthing', 1],
      ...values,
    ])
}

async function samplePayment({ port }: Server): Promise<object> {
  let sample = {}
  await load(port, 1, { units: 1 }, async send => {
    sample = JSON.parse((await send(post('/v1/payments', newPayment()))).body)
  })
  return sample
}

function install({ step }: Bench): void {
  if (Object.keys(PACKAGES).every(name => existsSync(bin(name)))) return
  step('peers: installing them into bench/peers')
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), '{ "private": true }\n')
  const packages = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`)
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error']
  execFileSync('npm', ['install', '--prefix', FOLDER, ...quiet, ...packages], { stdio: 'ignore' })
}

/** A free port whose successor is free too, outside the range of ephemeral ports. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + 2 * randomInt(5_000)
    if ((await isFree(port)) && (await isFree(port + 1))) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise(resolve => {
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
