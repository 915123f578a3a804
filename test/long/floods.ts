import assert from 'node:assert/strict'
import { Worker } from 'node:worker_threads'
import { type FloodData, floods } from '../faults/process/flood.ts'
import { attackAll, onBoth } from '../support/attacked.ts'
import { payOnPages } from '../support/journeys.ts'
import type { Job } from './run.ts'

const FLOOD = new URL('../faults/process/flood.ts', import.meta.url)

export const job: Job = {
  title: 'floods of a minute each, beside an ordinary client, on both databases',
  run: ({ scale }) =>
    attackAll(Object.assign({}, ...Object.keys(floods).map(name => flooded(name, 60_000 * scale)))),
}

const flooded = (flood: string, ms: number) =>
  onBoth(flood, {
    bars: { silence: 2_000, memory: 700 },
    async run({ service, api, other }) {
      const workerData: FloodData = { flood, baseUrl: service.baseUrl, key: api.key ?? '' }
      const thread = new Worker(FLOOD, { workerData })
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
