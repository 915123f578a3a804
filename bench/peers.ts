/**
 * Creates payments at 64 connections on other stand-ins, in the same run. They are installed into
 * bench/peers on demand and are no dependency of the project.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../test/support/ports.ts'
import { newFolder, removeFolder } from './folders.ts'
import { load, type Work } from './load.ts'
import { type Bench, type Contender, compare, comparedFigure, type Figure } from './measure.ts'
import { drawBars } from './plots.ts'
import { creating, expect, newPayment, post } from './requests.ts'
import { type Server, start, startFarthing, startFloor } from './servers.ts'
import { sizesOf } from './single.ts'

const FOLDER = fileURLToPath(new URL('peers/', import.meta.url))
const PACKAGES = {
  '@stoplight/prism-cli': '5.16.0',
  wiremock: '3.13.2',
}

/** A real response and description, from which canned responses are made. */
type Sample = { body: object; openapi: string }

type Peer = {
  name: string
  version: string
  keeps: string
  /** Units to warm it up. */
  warmUp?: number
  start(folder: string, port: number, sample: Sample): Promise<Server>
}

/** Milliseconds. */
const PATIENCE = 60_000
const bin = (path: string) => join(FOLDER, 'node_modules', path)

const peersKnown: Peer[] = [
  {
    name: 'WireMock',
    version: PACKAGES.wiremock,
    keeps: 'nothing: the answer is canned',
    warmUp: 100_000,
    start(folder, port, { body }) {
      const mapping = {
        request: { method: 'POST', urlPath: '/v1/payments' },
        response: { status: 201, headers: { 'Content-Type': 'application/json' }, jsonBody: body },
      }
      mkdirSync(join(folder, 'mappings'))
      writeFileSync(join(folder, 'mappings/create.json'), JSON.stringify(mapping))
      const jar = bin(`wiremock/build/wiremock-standalone-${PACKAGES.wiremock}.jar`)
      const quiet = ['--no-request-journal', '--disable-banner']
      const args = ['-jar', jar, '--port', String(port), '--root-dir', folder, ...quiet]
      return start('java', args, {}, { port, cwd: folder, patience: PATIENCE })
    },
  },
  {
    name: 'Prism',
    version: PACKAGES['@stoplight/prism-cli'],
    keeps: 'nothing: the answer is the example of /openapi.json, the request is validated by it',
    start(folder, port, { openapi }) {
      const file = join(folder, 'openapi.json')
      writeFileSync(file, openapi)
      const options = ['-p', String(port), '-h', '127.0.0.1', '-v', 'error', '--multiprocess=false']
      const args = [bin('@stoplight/prism-cli/dist/index.js'), 'mock', file, ...options]
      const env = { NODE_ENV: 'production' }
      return start(process.execPath, args, env, { port, cwd: folder, patience: PATIENCE })
    },
  },
]

/** The identifiers of canned responses are all the same. */
const creatingCanned: Work = async send =>
  expect(await send(post('/v1/payments', newPayment())), 201, '"payment_id"')

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

/** Measures a peer in turn with the floor and Farthing, so that other load on the machine affects all equally. */
async function measurePeer(
  { scale }: Bench,
  peer: Peer,
  own: Contender[],
  sample: Sample,
): Promise<Figure> {
  const folder = newFolder()
  const server = await peer.start(folder, await freePort(), sample)
  const seconds = Math.max(0.5, scale)
  await load(server.port, 64, { seconds: 2 * seconds, mayRest: true }, creatingCanned)
  if (peer.warmUp)
    await load(server.port, 64, { units: peer.warmUp * scale, mayRest: true }, creatingCanned)
  const made = await compare([...own, { server, work: creatingCanned }], {
    connections: 64,
    seconds,
    rounds: 5,
    pause: 500,
    mayRest: true, // some peers use more than one core
  })
  const rss = server.rss()
  await server.stop()
  removeFolder(folder)
  const what = `${peer.name} ${peer.version}`
  const figure = comparedFigure('peer', what, made, { of: 2, against: 'the floor, POST', rss })
  return { ...figure, details: { keeps: peer.keeps, farthing: made.ratio() } }
}

/** Draws the payments that each peer makes for one of Farthing's. */
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
