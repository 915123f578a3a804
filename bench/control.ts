/** C3 to C7 and C10: what a test waits for. C1, the cost of control when it is off, is `--against`. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Account, Farthing } from '../src/testing/public.d.ts'
import { createPostgresDatabase, startPostgres } from '../test/support/postgres.ts'
import { percentile } from './load.ts'
import { type Bench, type Figure, median, ratioFigure, round } from './measure.ts'
import { loadLibrary } from './package.ts'
import { newPayment } from './requests.ts'
import { KEY, startFarthing } from './servers.ts'

const CONNECTIONS = 64
/** Milliseconds after which the record of what came before is written. */
const SETTLED = 500
const ON = { FARTHING_CONTROL: 'true' }

/** Milliseconds of each run of `works`, which take turns. The first fifth warms up. */
async function inTurn(times: number, ...works: (() => Promise<unknown>)[]): Promise<number[][]> {
  const taken: number[][] = works.map(() => [])
  const warm = Math.ceil(times / 5)
  for (let i = -warm; i < times; i++)
    for (const [n, work] of works.entries()) {
      const began = performance.now()
      await work()
      if (i >= 0) taken[n]?.push(performance.now() - began)
    }
  return taken
}

const create = (account: Account) => account.send('POST', '/v1/payments', newPayment())

export async function control(bench: Bench): Promise<Figure[]> {
  const { scale, step } = bench
  const figures: Figure[] = []
  const farthing = await (await loadLibrary()).startFarthing()
  try {
    for (const part of [accountsAndResets, outcomes, waits, holds])
      figures.push(...(await part(farthing, bench)))
  } finally {
    await farthing.stop()
  }
  figures.push(...(await waitsOnPostgres(scale, step)))
  return figures
}

/** C3: an account. C4: a reset, of an empty account and of one with many payments. */
async function accountsAndResets(farthing: Farthing, { scale, step }: Bench): Promise<Figure[]> {
  step('C3, C4: accounts and resets')
  const times = Math.ceil(1_000 * scale)
  const [made = [], created = []] = await inTurn(
    times,
    () => farthing.account(),
    () => create(farthing),
  )
  const account = await farthing.account()
  const [reset = [], creates = []] = await inTurn(
    times,
    () => account.reset(),
    () => create(account),
  )
  const other = await farthing.account()
  const full: number[] = []
  const empty: number[] = []
  for (let round = 0; round < 3; round++) {
    const payments = Math.ceil(100_000 * scale)
    for (let done = 0; done < payments; done += CONNECTIONS)
      await Promise.all(Array.from({ length: CONNECTIONS }, () => create(account)))
    for (const taken of [full, empty]) {
      await pause(SETTLED)
      await other.reset() // after a pause the first is slower, whatever it resets
      const began = performance.now()
      await account.reset()
      taken.push(performance.now() - began)
    }
  }
  const figure = (name: string, what: string, most: number, of: number[], to: number[]) =>
    ratioFigure(
      name,
      { what, ratio: median(of) / median(to), most },
      { value: median(of), floor: median(to), unit: 'ms', against: 'the other in turn' },
    )
  return [
    figure('C3', 'an account, against a creation', 1.5, made, created),
    figure('C4', 'a reset, against a creation', 1.5, reset, creates),
    figure(
      'C4',
      `a reset of ${Math.ceil(100_000 * scale)} payments, against none`,
      1.2,
      full,
      empty,
    ),
  ]
}

/** C6: complete against the pages. C7: a refund and seven days. */
async function outcomes(farthing: Farthing, { scale, step }: Bench): Promise<Figure[]> {
  step('C6, C7: outcomes and time')
  const account = await farthing.account()
  const pages: number[] = []
  const completes: number[] = []
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  for (let i = 0; i < Math.ceil(500 * scale); i++) {
    const [paged, completed] = [(await create(account)).body, (await create(account)).body]
    const page = new URL(paged._links.next_url.href).pathname
    const began = performance.now()
    await account.send('GET', page)
    await account.send('POST', page, 'scenario=success', form)
    await account.send('POST', `${page}/confirm`, '', form)
    const between = performance.now()
    await account.complete(completed.payment_id)
    completes.push(performance.now() - between)
    pages.push(between - began)
  }
  const other = await farthing.account()
  const known = await other.payment({ scenario: 'success' })
  const [story = [], gets = []] = await inTurn(
    Math.ceil(100 * scale),
    async () => {
      const { payment_id } = await account.payment({ scenario: 'success', refund: 500 })
      await account.clock.advance('5s')
      await account.send('GET', `/v1/payments/${payment_id}/refunds`)
      await account.clock.advance('7d')
      await account.send('GET', `/v1/payments/${payment_id}`)
    },
    () => other.send('GET', `/v1/payments/${known.payment_id}`),
  )
  return [
    ratioFigure(
      'C6',
      { what: 'complete', ratio: median(completes) / median(pages), most: 0.7 },
      { value: median(completes), floor: median(pages), unit: 'ms', against: 'the three pages' },
    ),
    ratioFigure(
      'C7',
      { what: '5 seconds and 7 days proved', ratio: median(story) / median(gets), most: 8 },
      { value: median(story), floor: median(gets), unit: 'ms', against: 'a GET' },
    ),
  ]
}

/** Milliseconds from the answer to what moves the payment until the waiter has its answer. */
async function waited(mover: Account, waiter: Account, times: number): Promise<number[]> {
  const late: number[] = []
  for (let i = 0; i < times; i++) {
    const { payment_id } = await mover.payment()
    const found = waiter
      .waitForPayment({ payment_id, status: 'success' })
      .then(() => performance.now())
    await pause(2)
    await mover.complete(payment_id)
    const moved = performance.now()
    late.push(Math.max(0, (await found) - moved))
  }
  return late
}

function waitFigure(what: string, late: number[], most: number): Figure {
  const [p50, p99] = [round(percentile(late, 0.5), 2), round(percentile(late, 0.99), 2)]
  const target = `p99 <= ${most} ms`
  return { figure: 'C5', what, value: p50, unit: 'ms', p50, p99, target, met: p99 <= most }
}

async function waits(farthing: Farthing, { scale, step }: Bench): Promise<Figure[]> {
  step('C5: waits')
  const account = await farthing.account()
  const late = await waited(account, account, Math.ceil(1_000 * scale))
  return [waitFigure('a wait, after what it waited for', late, 20)]
}

async function waitsOnPostgres(scale: number, step: Bench['step']): Promise<Figure[]> {
  step('C5: waits through two instances on PostgreSQL')
  const cluster = await startPostgres()
  const database = await createPostgresDatabase(cluster.url)
  const servers = [
    await startFarthing({ database, env: ON }),
    await startFarthing({ database, env: ON }),
  ]
  const { connectFarthing } = await loadLibrary()
  const [mover, waiter] = await Promise.all(
    servers.map(({ port }) => connectFarthing({ url: `http://127.0.0.1:${port}`, key: KEY })),
  )
  const late = mover && waiter ? await waited(mover, waiter, Math.ceil(200 * scale)) : []
  for (const each of [mover, waiter]) await each?.stop()
  for (const server of servers) await server.stop()
  await cluster.stop()
  return [waitFigure('the same through two instances on PostgreSQL', late, 250)]
}

/**
 * C10: how much longer than its delay a request is held, at 100 at once, less what it takes without. Both begin after a
 * pause as long as the delay: after it the first requests are slower, whatever they do.
 */
async function holds(farthing: Farthing, { scale, step }: Bench): Promise<Figure[]> {
  step('C10: delays')
  const figures: Figure[] = []
  for (const [delay, batches] of [
    [10, 40],
    [100, 20],
    [1_000, 5],
  ] as const) {
    const [free, planned] = [await farthing.account(), await farthing.account()]
    await planned.plan({ on: 'searchRefunds', delay, times: 'always' })
    const [without, held]: [number[], number[]] = [[], []]
    for (let i = -1; i < Math.ceil(batches * scale); i++)
      for (const [account, times] of [
        [free, without],
        [planned, held],
      ] as const) {
        await pause(delay)
        const taken = await allAtOnce(account)
        if (i >= 0) times.push(...taken) // the first warms up
      }
    const p50 = round(percentile(held, 0.5) - percentile(without, 0.5) - delay, 2)
    const p99 = round(percentile(held, 0.99) - percentile(without, 0.99) - delay, 2)
    const bar = Math.max(2, delay * 0.02)
    const what = `a delay of ${delay} ms, at 100 at once: more than it`
    figures.push({
      figure: 'C10',
      what,
      value: p50,
      unit: 'ms',
      p50,
      p99,
      target: `p50 within ${bar} ms, p99 at most 20 ms more`,
      met: Math.abs(p50) <= bar && p99 <= 20,
    })
  }
  return figures
}

/** Milliseconds of each of 100 requests. */
const allAtOnce = (account: Account): Promise<number[]> =>
  Promise.all(
    Array.from({ length: 100 }, async () => {
      const began = performance.now()
      await account.send('GET', '/v1/refunds')
      return performance.now() - began
    }),
  )
