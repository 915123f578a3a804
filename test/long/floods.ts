import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Flood, FloodData } from '../faults/process/flood.ts'
import { createClient } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { payOnPages } from '../support/journeys.ts'
import { freePort } from '../support/ports.ts'
import { runProcess, startProcess } from '../support/process.ts'
import type { Job } from './run.ts'

const KEY = 'key-of-the-default-account'
const FLOODS: Flood[] = [
  ...(['unread pages', 'bodies in pieces', 'hanging webhooks', 'answers in pieces'] as const),
]

export const job: Job = {
  title: 'floods of a minute each, beside an ordinary client (SQLite)',
  async run({ scale }) {
    const lines: string[] = []
    for (const flood of FLOODS) lines.push(`${flood}: ${await flooded(flood, 60_000 * scale)}`)
    return lines.join('; ')
  },
}

async function flooded(flood: Flood, ms: number): Promise<string> {
  const receiverPort = await freePort()
  const env = {
    DATABASE_URL: tempDatabase(),
    FARTHING_API_KEY: KEY,
    FARTHING_CALLBACK_HOSTS: `localhost:${receiverPort}`,
    LOG_LEVEL: 'error',
  }
  const service = await startProcess({ env })
  const made = await runProcess({ env, args: ['keys', 'create', '--account', 'flooding'] })
  const data: FloodData = {
    flood,
    baseUrl: service.baseUrl,
    receiverPort,
    key: made.stdout.trim(),
  }
  const thread = new Worker(new URL('../faults/process/flood.ts', import.meta.url), {
    workerData: data,
  })
  try {
    const until = performance.now() + ms
    const api = createClient([service.baseUrl], KEY)
    const [health, journeys, memory] = await Promise.all([
      durations(until, async () => assert.equal((await api.get('/healthz')).status, 200)),
      durations(until, async () => void (await payOnPages(api, await api.createPayment()))),
      largest(until, () => residentMegabytes(service.pid)),
    ])
    assert.doesNotMatch(service.output(), /cannot go on/)
    return (
      `${memory} MB at most, the longest /healthz ${Math.max(...health)} ms, ` +
      `${journeys.length} journeys of 4 requests, the longest ${Math.max(...journeys)} ms`
    )
  } finally {
    await thread.terminate()
    await service.kill()
  }
}

/** Does `work` again and again, and returns how long each took, in milliseconds. */
async function durations(until: number, work: () => Promise<void>): Promise<number[]> {
  const took: number[] = []
  while (performance.now() < until) {
    const begun = performance.now()
    await work()
    took.push(Math.round(performance.now() - begun))
    await setTimeout(50)
  }
  return took
}

async function largest(until: number, measure: () => number): Promise<number> {
  let most = 0
  for (; performance.now() < until; await setTimeout(100)) most = Math.max(most, measure())
  return most
}

const residentMegabytes = (pid: number): number =>
  Math.round(
    (Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)?.[1]) * 1024) / 1e6,
  )
