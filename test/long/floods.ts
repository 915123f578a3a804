import assert from 'node:assert/strict'
import { Worker } from 'node:worker_threads'
import { type FloodData, floods } from '../faults/process/flood.ts'
import { type Attack, runAttacks } from '../support/attacked.ts'
import { payOnPages } from '../support/journeys.ts'
import type { Job } from './run.ts'

export const job: Job = {
  title: 'floods of a minute each, beside an ordinary client (SQLite)',
  run: ({ scale }) =>
    runAttacks(
      Object.fromEntries(Object.keys(floods).map(flood => [flood, flooded(flood, 60_000 * scale)])),
    ),
}

const flooded = (flood: string, ms: number): Attack => ({
  bars: {},
  async run({ service, api, other }) {
    const workerData: FloodData = { flood, baseUrl: service.baseUrl, key: api.key ?? '' }
    const thread = new Worker(new URL('../faults/process/flood.ts', import.meta.url), {
      workerData,
    })
    try {
      let journeys = 0
      for (const until = performance.now() + ms; performance.now() < until; journeys++)
        await payOnPages(other, await other.createPayment())
      assert.doesNotMatch(service.output(), /cannot go on/)
      return `${journeys} journeys of 4 requests`
    } finally {
      await thread.terminate()
    }
  },
})
