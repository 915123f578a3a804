import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { KEY, settings } from '../faults/process/serve.ts'
import { createClient, createOnce } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { startProcess } from '../support/process.ts'
import type { Job } from './run.ts'

const CONNECTIONS = 5_000

/** Sends creates at 1.5 times the service's capacity, as long as a connection is free. */
export const job: Job = {
  title: 'creates at 150% of capacity, open loop',
  async run({ scale }) {
    const seconds = Math.max(5, Math.ceil(300 * scale))
    return [
      `SQLite: ${await overload(tempDatabase(), seconds)}`,
      `PostgreSQL: ${await overload(await createPostgresDatabase(), seconds)}`,
    ].join('; ')
  },
}

async function overload(url: string, seconds: number): Promise<string> {
  const service = await startProcess({ env: settings(url) })
  try {
    const capacity = await measureCapacity(service.baseUrl)
    const load = await openLoop(service.baseUrl, capacity * 1.5, seconds)
    const rss = residentSize(service.pid)
    const recovery = await recover(service.baseUrl)
    assert.ok(recovery < 2_000, `recovered after ${recovery} ms`)
    assert.deepEqual(load.faults, {}, 'every answer is 201 or 503')
    const api = createClient([service.baseUrl], KEY)
    const { total } = (await api.get('/v1/payments')).body
    assert.equal(total, capacity * CAPACITY_SECONDS + load.created + RECOVERY_CREATES)
    const megabytes = Math.round(rss / 1e6)
    return (
      `${capacity}/s with 64 connections; for ${seconds} s ${Math.round(capacity * 1.5)}/s offered: ` +
      `${load.created} times 201, ${load.refused} times 503 with Retry-After, none cut off, ` +
      `${load.unsent} not sent because no connection was free, median ${load.median} ms, p99 ${load.p99} ms, ${load.busiest} open at most, ` +
      `RSS ${megabytes} MB; normal again after ${recovery} ms`
    )
  } finally {
    await service.kill()
  }
}

const CAPACITY_SECONDS = 5
const RECOVERY_CREATES = 20

async function measureCapacity(baseUrl: string): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 })
  const until = performance.now() + CAPACITY_SECONDS * 1_000
  let created = 0
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (performance.now() < until) {
        assert.equal(await create(baseUrl, agent), 201)
        created += 1
      }
    }),
  )
  agent.destroy()
  return created / CAPACITY_SECONDS
}

async function openLoop(baseUrl: string, rate: number, seconds: number) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' })
  const faults: Record<string, number> = {}
  const waits: number[] = []
  const report = { created: 0, refused: 0, unsent: 0, busiest: 0 }
  const begun = performance.now()
  const pending = new Set<Promise<void>>()
  let offered = 0

  async function one(): Promise<void> {
    const before = performance.now()
    const outcome = await create(baseUrl, agent)
    waits.push(performance.now() - before)
    if (outcome === 201) report.created += 1
    else if (outcome === 503) report.refused += 1
    else faults[outcome] = (faults[outcome] ?? 0) + 1
  }

  while (performance.now() - begun < seconds * 1_000) {
    const due = ((performance.now() - begun) / 1_000) * rate
    for (; offered < due; offered++) {
      // Without a free connection the request would wait in this process instead of at the service.
      if (pending.size >= CONNECTIONS) {
        report.unsent += 1
        continue
      }
      const request = one().finally(() => pending.delete(request))
      pending.add(request)
    }
    report.busiest = Math.max(report.busiest, pending.size)
    await setTimeout(2)
  }
  await Promise.all(pending)
  agent.destroy()
  waits.sort((a, b) => a - b)
  const at = (part: number) => Math.round(waits[Math.floor(waits.length * part)] ?? 0)
  return { ...report, faults, median: at(0.5), p99: at(0.99) }
}

/** Milliseconds until consecutive creates take less than 100 ms again. */
async function recover(baseUrl: string): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const begun = performance.now()
  let last = 0
  for (let i = 0; i < RECOVERY_CREATES; i++) {
    const before = performance.now()
    assert.equal(await create(baseUrl, agent), 201)
    if (performance.now() - before > 100) last = performance.now() - begun
  }
  agent.destroy()
  return Math.round(last)
}

/** The peak in bytes. */
const residentSize = (pid: number): number =>
  Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

/** The status, or the message of the error. */
const create = (baseUrl: string, agent: http.Agent): Promise<number | string> =>
  createOnce(baseUrl, agent, KEY).then(
    ({ status, retryAfter }) => (status === 503 && retryAfter !== '1' ? 'no Retry-After' : status),
    (error: Error) => error.message,
  )
