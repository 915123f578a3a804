import assert from 'node:assert/strict'
import http from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { KEY, settings } from '../faults/process/serve.ts'
import { storm } from '../faults/process/storm.ts'
import { type Client, createClient, createOnce, webPayment } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { peakMegabytes } from '../support/probe-process.ts'
import { startProcess } from '../support/process.ts'
import type { Job } from './run.ts'

const CONNECTIONS = 5_000

/** Sends creates at 1.5 times the service's capacity while a connection is free. */
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
    const api = createClient([service.baseUrl], KEY)
    const capacity = await measureCapacity(service, api)
    const load = await openLoop(service.baseUrl, capacity * 1.5, seconds)
    const megabytes = peakMegabytes(service.pid)
    const recovery = await recover(service.baseUrl)
    assert.ok(recovery < 2_000, `recovered after ${recovery} ms`)
    assert.deepEqual(load.faults, {}, 'every answer is 201 or 503')
    const { total } = (await api.get('/v1/payments')).body
    assert.equal(total, MEASURED + load.created + RECOVERY_CREATES)
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

/** Creates with which the capacity is measured: they take some seconds. */
const MEASURED = 5_000
const RECOVERY_CREATES = 20

/** Creates in a second on 64 connections. */
async function measureCapacity(at: { baseUrl: string }, api: Client): Promise<number> {
  const create = { path: '/v1/payments', method: 'POST', body: JSON.stringify(webPayment) }
  const begun = performance.now()
  const { outcomes } = await storm(at, api, { ...create, count: MEASURED, connections: 64 })
  assert.deepEqual(outcomes, { 201: MEASURED })
  return Math.round(MEASURED / ((performance.now() - begun) / 1_000))
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
    const outcome = await createOnce(baseUrl, agent, KEY)
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
    assert.equal(await createOnce(baseUrl, agent, KEY), 201)
    if (performance.now() - before > 100) last = performance.now() - begun
  }
  agent.destroy()
  return Math.round(last)
}
