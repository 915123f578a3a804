import { setTimeout } from 'node:timers/promises'
import { assertOnly, type Outcomes, spoken, storm } from '../faults/process/storm.ts'
import {
  type Attack,
  type Attacked,
  type Attacks,
  onBoth,
  runAttacks,
} from '../support/attacked.ts'
import { createLargePayments, searchBytes } from '../support/large-payments.ts'
import { open } from '../support/raw-http.ts'
import type { Job, JobOptions } from './run.ts'

/** Megabytes, and milliseconds that `/healthz` may take. */
const bars: Attack['bars'] = { memory: 600, silence: 500 }

const UNRECORDED = { FARTHING_CONSOLE: 'false', FARTHING_CONTROL: 'false' }

export const job: Job = {
  title: 'budgets: searches of large payments',
  run: options =>
    runAttacks({
      ...searches('900 searches that are read', reading, options),
      ...searches('900 searches that nobody reads', unread, options),
    }),
}

type Searching = (attacked: Attacked, count: number) => Promise<Outcomes>

const reading: Searching = async ({ service, api }, count) =>
  (await storm(service, api, { path: '/v1/payments', count, connections: 200 })).outcomes

/** Reads nothing for ten seconds, and then how each response begins. */
const unread: Searching = async ({ service, api }, count) => {
  const outcomes: Outcomes = {}
  const opening = Array.from({ length: count }, () => open(service.baseUrl))
  const sockets = await Promise.all(opening)
  for (const socket of sockets) socket.pause().write(searchBytes(api))
  await setTimeout(10_000)
  for (const socket of sockets) {
    const outcome = socket.read()?.toString('latin1', 9, 12) ?? 'nothing'
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    socket.destroy()
  }
  return outcomes
}

const largePayments = {
  bars,
  env: UNRECORDED,
  fill: ({ api }: Attacked) => createLargePayments(api, 500),
}

/** Every search is answered whole, with 200 or 503, and others notice little. */
function searches(name: string, search: Searching, { scale }: JobOptions): Attacks {
  const run = async (at: Attacked) => {
    const outcomes = await search(at, Math.ceil(900 * scale))
    assertOnly(outcomes, 503)
    return spoken(outcomes)
  }
  const env = { ...UNRECORDED, NODE_OPTIONS: '--max-old-space-size=1024' }
  return {
    ...onBoth(name, { ...largePayments, run }),
    [`${name}, in 1 GB`]: { ...largePayments, run, env },
  }
}
