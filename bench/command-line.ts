/** N9: the time that `farthing listen` adds to a delivery. N10: the start times of the commands. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createPostgresDatabase, startPostgres } from '../test/support/postgres.ts'
import { type Receiver, startReceiver } from '../test/support/receiver.ts'
import { percentile } from './load.ts'
import { type Bench, type Figure, median, ratioFigure, round } from './measure.ts'
import { packaged } from './package.ts'
import { KEY, type Server, startFarthing, timeOf } from './servers.ts'
import { register } from './single.ts'
import { makeAccounts } from './suite.ts'

const STARTS = 12

export async function startingCommands({ step }: Bench): Promise<Figure[]> {
  step('N10: starting commands')
  const farthing = await startFarthing({ database: 'sqlite::memory:' })
  const env = { FARTHING_URL: `http://127.0.0.1:${farthing.port}`, FARTHING_API_KEY: KEY }
  const [bare, version, pay]: [number[], number[], number[]] = [[], [], []]
  for (let i = 0; i < STARTS; i++) {
    bare.push(await timeOf(['-e', '0'], env))
    version.push(await timeOf([packaged(), '--version'], env))
    pay.push(await timeOf([packaged(), 'pay', '--json'], env))
  }
  const own = await timeOfRequests(farthing)
  await farthing.stop()
  const floor = median(bare)
  const starting = (what: string, value: number, most: number) =>
    ratioFigure('N10', what, { value, floor, unit: 'ms', against: 'node -e 0' }, { most })
  return [
    starting('farthing --version', median(version), 2),
    starting('farthing pay, without the service’s own time', median(pay) - own, 3.5),
  ]
}

/** Makes a function that cancels a new payment, which sends one message. Resolves with the time of that in ms. */
const payer = ({ port }: Server, key: string) => {
  const call = async (path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`POST ${path}: ${response.status}`)
    return response.text()
  }
  return async (amount = 1450) => {
    const fields = { amount, reference: 'listen', description: 'Measured' }
    const made = await call('/v1/payments', { ...fields, authorisation_mode: 'moto_api' })
    const began = performance.now()
    await call(`/v1/payments/${JSON.parse(made).payment_id}/cancel`)
    return performance.now() - began
  }
}

/** The milliseconds of the requests that `farthing pay` makes, by another client. */
async function timeOfRequests(farthing: Server): Promise<number> {
  const pay = payer(farthing, KEY)
  const times: number[] = []
  for (let i = 0; i < STARTS; i++) {
    const began = performance.now()
    await pay()
    times.push(performance.now() - began)
  }
  return median(times)
}

const EVENTS = ['card_payment_cancelled']

async function listen({ port }: Server, key: string, forwardTo: string): Promise<ChildProcess> {
  const args = ['listen', '--forward-to', forwardTo, '--events', EVENTS.join(), '--json']
  const env = { FARTHING_URL: `http://127.0.0.1:${port}`, FARTHING_API_KEY: key }
  const child = spawn(process.execPath, [packaged(), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(createInterface(child.stdout), 'line')
  child.stdout.resume()
  return child
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

export async function listening(bench: Bench): Promise<Figure[]> {
  const receiver = await startReceiver({ plain: true })
  const env = {
    FARTHING_CONTROL: 'true',
    FARTHING_CALLBACK_HOSTS: `localhost:${receiver.port}`,
    LOG_LEVEL: 'warn',
  }
  try {
    return [...(await onOne(bench, receiver, env)), await onTwo(bench, receiver, env)]
  } finally {
    await receiver.close()
  }
}

type Env = Record<string, string>

async function onOne({ step, scale }: Bench, receiver: Receiver, env: Env): Promise<Figure[]> {
  step('N9: a message through farthing listen, and directly')
  const farthing = await startFarthing({ database: 'sqlite::memory:', env })
  const added = await inTurn(farthing, farthing, receiver, scale)
  const figure = figureOf('a message through farthing listen', added, { p50: 5, p99: 20 })

  const wanted = Math.ceil(10_000 * scale)
  step(`N9: ${wanted} messages through farthing listen`)
  const listener = await listen(farthing, KEY, receiver.url)
  const pay = payer(farthing, KEY)
  receiver.requests.length = 0
  const began = performance.now()
  let started = 0
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (started++ < wanted) await pay()
    }),
  )
  const seconds = (performance.now() - began) / 1000
  await end(listener)
  await farthing.stop()
  const arrived = new Set(receiver.requests.map(({ body }) => JSON.parse(body).webhook_message_id))
  return [
    figure,
    {
      figure: 'N9',
      what: `${wanted} messages through farthing listen`,
      value: round(wanted / seconds),
      unit: 'a second',
      target: 'each arrives once',
      met: arrived.size === wanted && receiver.requests.length === wanted,
    },
  ]
}

async function onTwo({ step, scale }: Bench, receiver: Receiver, env: Env): Promise<Figure> {
  step('N9: a message through farthing listen at another instance')
  const postgres = await startPostgres()
  const database = await createPostgresDatabase(postgres.url)
  const one = await startFarthing({ database, env })
  const two = await startFarthing({ database, env })
  const added = await inTurn(one, two, receiver, scale)
  await Promise.all([one.stop(), two.stop()])
  await postgres.stop()
  return figureOf('the same at another of two instances', added, { p99: 150 })
}

type Times = { direct: number[]; listened: number[] }

/** Payments at one instance, whose messages go in turn to the receiver and to a listener at the other instance. */
async function inTurn(
  one: Server,
  other: Server,
  receiver: Receiver,
  scale: number,
): Promise<Times> {
  const [key = ''] = await makeAccounts(one, 1)
  await register(one, receiver, key, EVENTS)
  const listener = await listen(other, KEY, receiver.url)
  const [direct, listened] = [payer(one, key), payer(one, KEY)]
  const times: Times = { direct: [], listened: [] }
  for (let i = 0; i < Math.ceil(300 * scale); i++) {
    times.direct.push(await direct())
    times.listened.push(await listened())
  }
  await end(listener)
  return times
}

/** `most`: the milliseconds that a listener may add. */
function figureOf(
  what: string,
  { direct, listened }: Times,
  most: { p50?: number; p99: number },
): Figure {
  const quantile = (share: number) => [percentile(listened, share), percentile(direct, share)]
  const [p50 = 0, direct50 = 0] = quantile(0.5)
  const [p99 = 0, direct99 = 0] = quantile(0.99)
  const measured = { value: p50, floor: direct50, unit: 'ms', against: 'straight to the receiver' }
  const half = most.p50 === undefined ? '' : `p50 <= ${most.p50} ms more, `
  return {
    ...ratioFigure('N9', what, measured),
    p50: round(p50, 2),
    p99: round(p99, 2),
    target: `${half}p99 <= ${most.p99} ms more`,
    met: p50 - direct50 <= (most.p50 ?? Infinity) && p99 - direct99 <= most.p99,
    details: { directP99: round(direct99, 2) },
  }
}
