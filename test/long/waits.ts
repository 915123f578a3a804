import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { type Attacked, attacked, runAttacks } from '../support/attacked.ts'
import type { Client } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { createLargePayments } from '../support/large-payments.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import type { FarthingProcess } from '../support/process.ts'
import type { Job } from './run.ts'

/** Milliseconds that a payment of an account waits for its listeners, and that a read of another account may take. */
const LONGEST_DELIVERY = 8_000
const LONGEST_READ = 500

/** What one account can do with listeners and waits, and what another one notices. */
export const job: Job = {
  title: 'listeners that never answer, and waits over many payments, on both databases',
  run: ({ scale }) =>
    runAttacks(
      [async () => tempDatabase(), () => createPostgresDatabase()].flatMap(create => [
        ['listeners', async () => held(await create(), silent(Math.ceil(100 * scale), [20, 100]))],
        ['waits', async () => held(await create(), finding(Math.ceil(10_000 * scale)))],
      ]),
    ),
}

type Attack = {
  prepare(attacked: Attacked): Promise<void>
  run(attacked: Attacked): Promise<{ said: string; isHeld: boolean }>
}

async function held(url: string, attack: Attack): Promise<{ line: string; isHeld: boolean }> {
  let isWithin = false
  const run = async (each: Attacked) => {
    const before = cpuSeconds(each.service.pid)
    const { said, isHeld } = await attack.run(each)
    isWithin = isHeld
    return `${said}; ${(cpuSeconds(each.service.pid) - before).toFixed(1)} s of processor time`
  }
  const fill = (each: Attacked) => attack.prepare(each)
  const seen = await attacked({ DATABASE_URL: url }, run, { fill })
  const isHeld = isWithin && seen.isAnswered && seen.stranger <= LONGEST_READ
  return { line: `${new URL(url).protocol} ${seen.line}`, isHeld }
}

/** Seconds of processor time that the process has used. Linux counts in hundredths. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')'))
    .split(' ')
    .slice(12, 14)
    .map(Number)
  return (user + system) / 100
}

const agent = new http.Agent({ keepAlive: true })

type Asked = { status: string; body: string; ms: number }

/** The status of the response, or the code of the error; `cut` if the body is not whole. */
function ask(
  service: FarthingProcess,
  { key }: Client,
  target: string,
  body?: object,
): Promise<Asked> {
  const [method = '', path = ''] = target.split(' ')
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const begun = performance.now()
  return new Promise(resolve => {
    const end = (status: string, text = '') =>
      resolve({ status, body: text, ms: Math.round(performance.now() - begun) })
    http
      .request(service.baseUrl + path, { method, headers, agent }, response => {
        const pieces: Buffer[] = []
        response.on('data', piece => pieces.push(piece))
        response.on('close', () =>
          end(
            response.complete ? String(response.statusCode) : 'cut',
            Buffer.concat(pieces).toString(),
          ),
        )
      })
      .on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
      .end(body && JSON.stringify(body))
  })
}

function summed(asked: Asked[]): { said: string; longest: number; statuses: string[] } {
  const counts: Record<string, number> = {}
  for (const { status } of asked) counts[status] = (counts[status] ?? 0) + 1
  const longest = Math.max(...asked.map(({ ms }) => ms))
  return {
    said: `${JSON.stringify(counts)} in at most ${longest} ms`,
    longest,
    statuses: Object.keys(counts),
  }
}

/** So many listeners take each attempt and answer none, while payments are cancelled at once. */
function silent(listeners: number, rounds: number[]): Attack {
  const ids: string[] = []
  return {
    async prepare({ service, api }) {
      for (let i = 0; i < listeners; i++) {
        const { body } = await ask(service, api, 'POST /control/listeners', { name: `l${i}` })
        ids.push(JSON.parse(body).webhook_id)
      }
    },
    async run({ service, api, other }) {
      let isOver = false
      const takings = ids.map(async id => {
        while (!isOver) await ask(service, api, `GET /control/listeners/${id}/next?wait=2000`)
      })
      await setTimeout(2_000)
      const said: string[] = []
      let isHeld = true
      for (const count of rounds) {
        const payments = await Promise.all(Array.from({ length: count }, () => api.createPayment()))
        const often = cancelOften(service, other)
        const cancels = payments.map(({ payment_id }) =>
          ask(service, api, `POST /v1/payments/${payment_id}/cancel`),
        )
        const { said: cancelled, longest, statuses } = summed(await Promise.all(cancels))
        said.push(`${count} cancels ${cancelled}, those of another account ${await often()} ms`)
        isHeld &&= longest <= LONGEST_DELIVERY && statuses.join() === '204'
      }
      isOver = true
      await Promise.all(takings)
      return { said: `${listeners} listeners: ${said.join(', ')}`, isHeld }
    },
  }
}

/** Cancels payments of the other account until the result is called, which returns the longest time in milliseconds. */
function cancelOften(service: FarthingProcess, api: Client): () => Promise<number> {
  let isOver = false
  let longest = 0
  const work = (async () => {
    while (!isOver) {
      const { payment_id } = await api.createPayment()
      const { ms } = await ask(service, api, `POST /v1/payments/${payment_id}/cancel`)
      longest = Math.max(longest, ms)
      await setTimeout(20)
    }
  })()
  return async () => {
    isOver = true
    await work
    return longest
  }
}

/** Lists, waits and many lists at once over payments of almost 10 KB. */
function finding(payments: number): Attack {
  return {
    prepare: ({ api }) => createLargePayments(api, payments),
    async run({ service, api }) {
      const many = async (count: number, query: (i: number) => string) => {
        const one = (_: unknown, i: number) => ask(service, api, `GET /control/payments${query(i)}`)
        return summed(await Promise.all(Array.from({ length: count }, one)))
      }
      const lists = await many(50, () => '')
      const started = await many(50, () => '?status=started')
      const equal = await many(200, () => '?status=success&wait=3000')
      const different = await many(200, i => `?status=success&wait=${3_000 + i}`)
      const flood = await many(500, () => '')
      return {
        said: `${payments} payments: 50 lists ${lists.said}, 50 by a status ${started.said}, 200 equal waits ${equal.said}, 200 different ones ${different.said}, 500 lists ${flood.said}`,
        isHeld: [lists, started, equal, different].every(
          ({ statuses }) => statuses.join() === '200',
        ),
      }
    },
  }
}
