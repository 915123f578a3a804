import assert from 'node:assert/strict'
import { Worker } from 'node:worker_threads'
import type { Flood, FloodData } from '../faults/process/flood.ts'
import { attacked, runAttacks } from '../support/attacked.ts'
import { tempDatabase } from '../support/folders.ts'
import { payOnPages } from '../support/journeys.ts'
import { freePort } from '../support/ports.ts'
import type { Job } from './run.ts'

const FLOODS: Flood[] = [
  ...(['unread pages', 'bodies in pieces', 'hanging webhooks', 'answers in pieces'] as const),
]

export const job: Job = {
  title: 'floods of a minute each, beside an ordinary client (SQLite)',
  run: ({ scale }) =>
    runAttacks(FLOODS.map(flood => [flood, () => flooded(flood, 60_000 * scale)])),
}

async function flooded(flood: Flood, ms: number) {
  const receiverPort = await freePort()
  const env = {
    DATABASE_URL: tempDatabase(),
    FARTHING_CALLBACK_HOSTS: `localhost:${receiverPort}`,
  }
  const { line, isAnswered } = await attacked(env, async ({ service, api, other }) => {
    const { baseUrl } = service
    const workerData: FloodData = { flood, baseUrl, receiverPort, key: api.key ?? '' }
    const flooding = new URL('../faults/process/flood.ts', import.meta.url)
    const thread = new Worker(flooding, { workerData })
    try {
      let journeys = 0
      for (const until = performance.now() + ms; performance.now() < until; journeys++)
        await payOnPages(other, await other.createPayment())
      assert.doesNotMatch(service.output(), /cannot go on/)
      return `${journeys} journeys of 4 requests`
    } finally {
      await thread.terminate()
    }
  })
  return { line, isHeld: isAnswered }
}
