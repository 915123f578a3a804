import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  checkAllDelivered,
  HOOKED,
  HOOKED_KEY,
  startHookReceiver,
} from '../faults/process/hooked-account.ts'
import { checkRows, KEY, settings } from '../faults/process/serve.ts'
import { createWorkload, seeded } from '../faults/process/workload.ts'
import { tempFolder } from '../support/folders.ts'
import { openAt } from '../support/open-database.ts'
import { type FarthingProcess, startProcess } from '../support/process.ts'
import type { Job } from './run.ts'

const ROUNDS = 120
const ROUND_MS = 60_000
/** Clients of each account: about half of the service's capacity. */
const CLIENTS = 2
/** Rounds to warm up. */
const WARM = 3
const MOST_GROWTH = 8 * 2 ** 20

const REPORT_HEAP = fileURLToPath(new URL('report-heap.js', import.meta.url))
type Sample = { heap: number; descriptors: number; wal: number }

/** Hours of ordinary use, to find leaks. */
export const job: Job = {
  title:
    '4 clients, two with a webhook; after each minute the ledger, the invariants, heap, descriptors, WAL',
  async run({ seed, scale }) {
    const rounds = Math.max(WARM + 2, Math.ceil(ROUNDS * scale))
    const path = join(tempFolder(), 'farthing.db')
    const receiver = await startHookReceiver()
    const env = settings(`sqlite:${path}`, HOOKED)
    const service = await startProcess({
      env: { ...env, NODE_OPTIONS: `--expose-gc --import=${REPORT_HEAP}` },
    })
    const random = seeded(seed)
    const samples: Sample[] = []
    let answered = 0
    try {
      await receiver.register([service.baseUrl])
      for (let round = 1; round <= rounds; round++) {
        const since = Date.now()
        for (const workload of await work(service, [KEY, HOOKED_KEY], random)) {
          await workload.check()
          answered += workload.answered()
        }
        await checkDatabase(path, receiver.received, since)
        samples.push(await sample(service, path))
        if (round % 10 === 0) console.log(`${round} rounds: ${sentence(samples)}`)
      }
      judge(samples)
      return `${rounds} rounds of a minute, ${answered} requests, ${receiver.received.size} messages; ${sentence(samples)}`
    } finally {
      await service.kill()
      await receiver.close()
    }
  },
}

async function work({ baseUrl }: FarthingProcess, keys: string[], random: () => number) {
  const workloads = keys.map(key => createWorkload([baseUrl], key, random))
  const running = Promise.all(workloads.map(workload => workload.run(CLIENTS)))
  await Promise.race([pause(ROUND_MS), running]) // a client that finds a fault ends the round
  for (const workload of workloads) workload.stop()
  await running
  for (const { ledger, touched } of workloads) {
    const unknown = [...touched].filter(entry => entry.unknown !== undefined)
    assert.deepEqual([ledger.lost, unknown], [[], []], 'every request was answered')
  }
  return workloads
}

async function checkDatabase(path: string, received: Map<string, number>, since: number) {
  const database = await openAt(`sqlite:${path}`)
  await checkAllDelivered(database, received).finally(() => database.close())
  await checkRows(`sqlite:${path}`, { since, settled: true })
}

async function sample(service: FarthingProcess, path: string): Promise<Sample> {
  const printed = () => [...service.output().matchAll(/^heap (\d+)$/gm)]
  const before = printed().length
  service.signal('SIGUSR2')
  while (printed().length === before) await pause(20)
  return {
    heap: Number(printed().at(-1)?.[1]),
    descriptors: readdirSync(`/proc/${service.pid}/fd`).length,
    wal: statSync(`${path}-wal`).size,
  }
}

/** The medians of the first and the last quarter of the rounds, to ignore outliers. */
function medians(samples: Sample[], measure: (sample: Sample) => number): [number, number] {
  const median = (some: Sample[]) =>
    some.map(measure).sort((a, b) => a - b)[some.length >> 1] ?? Number.NaN
  const warm = samples.slice(Math.min(WARM, samples.length - 1))
  const part = Math.ceil(warm.length / 4)
  return [median(warm.slice(0, part)), median(warm.slice(-part))]
}

function judge(samples: Sample[]): void {
  const [first, last] = medians(samples, ({ heap }) => heap)
  assert.ok(last - first < MOST_GROWTH, `the heap grew from ${first} to ${last} bytes`)
  const [few, many] = medians(samples, ({ descriptors }) => descriptors)
  assert.ok(many <= few + 8, `open descriptors grew from ${few} to ${many}`)
}

function sentence(samples: Sample[]): string {
  const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1)
  const heap = medians(samples, sample => sample.heap).map(megabytes)
  const descriptors = medians(samples, sample => sample.descriptors)
  const wal = megabytes(Math.max(...samples.map(sample => sample.wal)))
  return `heap ${heap.join(' to ')} MB, descriptors ${descriptors.join(' to ')}, WAL ${wal} MB at most`
}
