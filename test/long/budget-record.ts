import assert from 'node:assert/strict'
import http from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { createOnce } from '../faults/process/create-once.ts'
import { type Attacked, attacked, runAttacks, type Seen } from '../support/attacked.ts'
import type { Client } from '../support/client.ts'
import { tempDatabase, tempFolder } from '../support/folders.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Job } from './run.ts'

/** What one account can do to the record, and what the others notice. */
export const job: Job = {
  title: 'a full volume, a full record, and waits over it (SQLite)',
  async run({ scale }) {
    const seconds = Math.max(5, Math.ceil(60 * scale))
    return runAttacks([
      ['full volume', () => fillVolume(seconds)],
      ['pages', readPages],
      ['checks', checkAtOnce],
      ['waits', waitIdly],
    ])
  },
}

type Outcome = { line: string; isHeld: boolean }

/** A response with 64 KB of headers, less what Node adds. */
const LARGE_HEADERS = Array.from(
  { length: 20 },
  (_, i) => [`X-Large-${i}`, 'v '.repeat(1_600)] as const,
)

/** Sends by hand as fast as it can to a receiver with large headers, on a volume of 300 MB, while others pay. */
async function fillVolume(seconds: number): Promise<Outcome> {
  const folder = tempFolder()
  const mount = `mount -t tmpfs -o size=300m tmpfs ${folder} && exec "$@"`
  const receiver = await startReceiver({
    plain: true,
    onRequest({ response }) {
      for (const [name, value] of LARGE_HEADERS) response.setHeader(name, value)
      response.end()
    },
  })
  const statuses: Record<string, number> = {}
  const attack = async ({ service, api, other }: Attacked) => {
    const made = await api.post('/v1/webhooks', { callback_url: receiver.url })
    assert.equal(made.status, 201, made.text)
    const { payment_id } = await api.createPayment()
    await api.post(`/v1/payments/${payment_id}/cancel`)
    const headers = { ...authorised(api), 'Content-Type': 'application/json' }
    const asked = await fetch(`${service.baseUrl}/control/messages?wait=5000`, { headers })
    const [message] = ((await asked.json()) as { results: { message_id: string }[] }).results
    const until = performance.now() + seconds * 1_000
    let sent = 0
    const flood = async () => {
      while (performance.now() < until) {
        const path = `/control/messages/${message?.message_id}/send`
        const body = JSON.stringify({ times: 10 })
        const sends = await fetch(service.baseUrl + path, { method: 'POST', headers, body })
        await sends.arrayBuffer()
        if (sends.status === 200) sent += 10
        else await setTimeout(20)
      }
    }
    const agent = new http.Agent({ keepAlive: true })
    const pay = async () => {
      while (performance.now() < until + 5_000) {
        const outcome = await createOnce(service.baseUrl, agent, other.key ?? '').then(
          ({ status }) => String(status),
          error => error.message,
        )
        statuses[outcome] = (statuses[outcome] ?? 0) + 1
        await setTimeout(10)
      }
    }
    await Promise.all([...Array.from({ length: 16 }, flood), pay()])
    agent.destroy()
    return `volume of 300 MB: ${sent} sends by hand with 64 KB of headers in ${seconds} s, creates ${JSON.stringify(statuses)}`
  }
  const seen = await attacked({ DATABASE_URL: `sqlite:${folder}/farthing.db` }, attack, {
    wrapper: ['unshare', '-m', 'sh', '-c', mount, 'sh'],
  }).finally(() => receiver.close())
  const isHeld = Object.keys(statuses).join() === '201' && !seen.said.startsWith('failed')
  return { line: seen.line, isHeld }
}

const LARGE = 'v'.repeat(8_000)
const ROWS = 10_000

/** 10,000 requests with as much as is kept of each, written to the file beside the service. */
async function fillRecord(database: string): Promise<void> {
  const file = new DatabaseSync(database.replace('sqlite:', ''))
  file.exec('pragma busy_timeout = 5000')
  const [sample] = file.prepare("select * from exchanges where kind = 'api' limit 1").all()
  assert.ok(sample)
  const body = JSON.stringify({
    ...JSON.parse(String(sample.body)),
    request_body: { text: LARGE },
    response_body: { text: LARGE },
  })
  const insert = file.prepare(
    `insert into exchanges (${Object.keys(sample).join()}) values (${Object.keys(sample)
      .map(() => '?')
      .join()})`,
  )
  const first = String(sample.exchange_id)
  file.exec('begin')
  for (let i = 0; i < ROWS; i++) {
    const id = first.slice(0, 16) + i.toString().padStart(10, '0')
    insert.run(...Object.values({ ...sample, exchange_id: id, body }))
  }
  file.exec('commit')
  file.close()
}

function full(attack: (attacked: Attacked) => Promise<string>): Promise<Seen> {
  const DATABASE_URL = tempDatabase()
  const fill = async ({ api }: Attacked) => {
    await api.get('/v1/payments')
    await setTimeout(1_000)
    await fillRecord(DATABASE_URL)
  }
  return attacked({ DATABASE_URL }, attack, { fill })
}

const authorised = ({ key }: Client) => ({ Authorization: `Bearer ${key}` })

async function readPages(): Promise<Outcome> {
  const seen = await full(async ({ service, api }) => {
    const began = performance.now()
    let bytes = 0
    // Different ones: equal requests share one look.
    const read = async (_: unknown, i: number) => {
      const answer = await fetch(`${service.baseUrl}/control/requests?limit=${500 - i}`, {
        headers: authorised(api),
      })
      assert.equal(answer.status, 200)
      bytes = Math.max(bytes, (await answer.arrayBuffer()).byteLength)
    }
    await Promise.all(Array.from({ length: 50 }, read))
    return `50 pages of a full record at once: ${bytes} bytes at most, ${Math.round(performance.now() - began)} ms`
  })
  return held(seen, { silence: 200, memory: 400 })
}

async function checkAtOnce(): Promise<Outcome> {
  const seen = await full(async ({ service, api }) => {
    const began = performance.now()
    const check = async () => {
      const answer = await fetch(`${service.baseUrl}/control/check`, { headers: authorised(api) })
      assert.equal(answer.status, 200)
      await answer.arrayBuffer()
    }
    await Promise.all(Array.from({ length: 20 }, check))
    return `20 checks of a full record at once: ${Math.round(performance.now() - began)} ms`
  })
  return held(seen, { silence: 200, memory: 400 })
}

function held(seen: Seen, bars: { silence: number; memory: number }): Outcome {
  const isWithin = seen.silence <= bars.silence && seen.memory <= bars.memory
  return { line: seen.line, isHeld: isWithin && seen.isAnswered }
}

const READS = 100

/** Reads of another account with 50 waits of one account over 9,000 rows, and without, in turn. */
async function waitIdly(): Promise<Outcome> {
  let ratio = Infinity
  const seen = await full(async ({ service, api, other }) => {
    const { payment_id } = await other.createPayment()
    // A mean, in steady steps: waits that look together leave gaps, in which a burst of reads would find its way.
    const mean = async () => {
      const times: number[] = []
      for (let i = 0; i < READS; i++) {
        const began = performance.now()
        assert.equal((await other.get(`/v1/payments/${payment_id}`)).status, 200)
        times.push(performance.now() - began)
        await setTimeout(20)
      }
      return times.reduce((sum, ms) => sum + ms, 0) / READS
    }
    await mean()
    const ratios: number[] = []
    const means: string[] = []
    for (let round = 0; round < 5; round++) {
      const without = await mean()
      const ending = new AbortController()
      const waits = Array.from({ length: 50 }, (_, i) =>
        fetch(`${service.baseUrl}/control/requests?status=599&limit=${i + 1}&wait=10000`, {
          headers: authorised(api),
          signal: ending.signal,
        }).catch(() => undefined),
      )
      await setTimeout(2_000)
      const beside = await mean()
      ending.abort()
      await Promise.all(waits)
      await setTimeout(500)
      ratios.push(beside / without)
      means.push(`${without.toFixed(1)} and ${beside.toFixed(1)}`)
    }
    ratio = ratios.sort((a, b) => a - b)[2] ?? Infinity
    return `50 idle waits over ${ROWS} rows: reads of others in ms (mean) without and with ${means.join(', ')}: ${ratio.toFixed(2)} times`
  })
  return { line: seen.line, isHeld: ratio <= 2 }
}
