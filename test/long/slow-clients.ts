import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drip, slowRequests } from '../faults/process/slow-client.ts'
import { createClient } from '../support/client.ts'
import { startProcess } from '../support/process.ts'
import type { Job } from './run.ts'

const KEY = 'key-of-the-default-account'
const SLOW = 1_000
const OTHERS = 8

/** Creates by a few clients, first alone and then beside a thousand that never finish a request. */
export const job: Job = {
  title: '1,000 slow clients beside 8 others',
  async run({ scale }) {
    const ms = Math.max(5_000, 60_000 * scale)
    const folder = mkdtempSync(join(tmpdir(), 'farthing-slow-'))
    const DATABASE_URL = `sqlite:${join(folder, 'farthing.db')}`
    const service = await startProcess({
      env: { DATABASE_URL, FARTHING_API_KEY: KEY, LOG_LEVEL: 'warn' },
    })
    try {
      await measure(service.baseUrl, 5_000) // warms up
      const alone = await measure(service.baseUrl, ms)
      const slow = keepSlow(service.baseUrl, ms)
      const beside = await measure(service.baseUrl, ms)
      const cut = await slow
      assert.ok(beside.p99 < Math.max(2 * alone.p99, 50), `${alone.p99} and ${beside.p99} ms`)
      return (
        `alone: ${alone.count} creates, median ${alone.median} ms, p99 ${alone.p99} ms; beside: ` +
        `${beside.count}, ${beside.median} ms, ${beside.p99} ms; ${cut.count} slow requests, all cut ` +
        `with 408, after ${cut.latest} ms at most`
      )
    } finally {
      await service.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function measure(baseUrl: string, ms: number) {
  const api = createClient([baseUrl], KEY)
  const waits: number[] = []
  const until = performance.now() + ms
  await Promise.all(
    Array.from({ length: OTHERS }, async () => {
      while (performance.now() < until) {
        const before = performance.now()
        await api.createPayment()
        waits.push(performance.now() - before)
      }
    }),
  )
  waits.sort((a, b) => a - b)
  const at = (part: number) => Math.round((waits[Math.floor(waits.length * part)] ?? 0) * 10) / 10
  return { count: waits.length, median: at(0.5), p99: at(0.99) }
}

/** As many as there are, one after another in each place, half in headers and half in bodies. */
async function keepSlow(baseUrl: string, ms: number) {
  const until = performance.now() + ms
  const requests = slowRequests(KEY)
  const result = { count: 0, latest: 0 }
  await Promise.all(
    Array.from({ length: SLOW }, async (_, i) => {
      while (performance.now() < until) {
        const { answer, ms } = await drip(baseUrl, requests[i % 2] ?? '')
        assert.match(answer, /^HTTP\/1\.1 408 /)
        result.count += 1
        result.latest = Math.max(result.latest, Math.round(ms))
      }
    }),
  )
  return result
}
