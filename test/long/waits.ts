import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { assertOnly, type Stormed, storm } from '../faults/process/storm.ts'
import { type Attack, type Attacked, attackAll, onBoth } from '../support/attacked.ts'
import { sendUnchecked } from '../support/client.ts'
import { createLargePayments } from '../support/large-payments.ts'
import { cpuSeconds } from '../support/process-tree.ts'
import type { Job } from './run.ts'

/** Milliseconds that a payment waits for the listeners of its account, and that a read of another account may take. */
const LONGEST_DELIVERY = 8_000
const LONGEST_READ = 500

/** Attacks of one account with listeners and waits, and their effect on another account. */
export const job: Job = {
  title: 'listeners that never answer, and waits over many payments, on both databases',
  run: ({ scale }) =>
    attackAll({
      ...onBoth('listeners', silent(Math.ceil(100 * scale), [20, 100])),
      ...onBoth('waits', finding(Math.ceil(10_000 * scale))),
    }),
}

const measured = (run: Attack['run']) => async (at: Attacked) => {
  const before = cpuSeconds(at.service.pid)
  const said = await run(at)
  return `${said}; ${(cpuSeconds(at.service.pid) - before).toFixed(1)} s of processor time`
}

const cancelled = async (at: Attacked, api: Attacked['api'], count: number): Promise<Stormed> => {
  const payments = await Promise.all(Array.from({ length: count }, () => api.createPayment()))
  const path = (nth: number) => `/v1/payments/${payments[nth]?.payment_id}/cancel`
  return storm(at.service, api, { method: 'POST', path, count, connections: count })
}

/** `listeners` listeners take each attempt and answer none, while payments are cancelled at once. */
function silent(listeners: number, rounds: number[]): Attack {
  const ids: string[] = []
  return {
    bars: { stranger: LONGEST_READ },
    async fill({ service, api: { key } }) {
      const url = `${service.baseUrl}/control/listeners`
      for (let i = 0; i < listeners; i++) {
        const { body } = await sendUnchecked(url, { key, method: 'POST', json: { name: `l${i}` } })
        ids.push(body.webhook_id)
      }
    },
    run: measured(async at => {
      let isOver = false
      const takings = ids.map(async id => {
        const next = { path: `/control/listeners/${id}/next?wait=2000`, count: 1 }
        while (!isOver) await storm(at.service, at.api, next)
      })
      await setTimeout(2_000)
      const said: string[] = []
      let isHeld = true
      for (const count of rounds) {
        const often = cancelOften(at)
        const { outcomes, longest, said: sentence } = await cancelled(at, at.api, count)
        said.push(`cancels ${sentence}, those of another account ${await often()} ms`)
        isHeld &&= outcomes[204] === count && longest <= LONGEST_DELIVERY
      }
      isOver = true
      await Promise.all(takings)
      assert.ok(isHeld, said.join())
      return `${listeners} listeners: ${said.join(', ')}`
    }),
  }
}

/** Cancels payments of the other account until the result is called, which returns the longest time in ms. */
function cancelOften(at: Attacked): () => Promise<number> {
  let isOver = false
  let most = 0
  const work = (async () => {
    for (; !isOver; await setTimeout(20))
      most = Math.max(most, (await cancelled(at, at.other, 1)).longest)
  })()
  return async () => {
    isOver = true
    await work
    return most
  }
}

/** Lists, waits, and many lists at once over payments of almost 10 KB. */
const finding = (payments: number): Attack => ({
  bars: { stranger: LONGEST_READ },
  fill: ({ api }) => createLargePayments(api, payments),
  run: measured(async ({ service, api }) => {
    const said: string[] = []
    for (const [what, count, query] of [
      ['lists', 50, () => ''],
      ['by a status', 50, () => '?status=started'],
      ['equal waits', 200, () => '?status=success&wait=3000'],
      ['different waits', 200, nth => `?status=success&wait=${3_000 + nth}`],
      ['lists at once', 500, () => ''],
    ] as [string, number, (nth: number) => string][]) {
      const path = (nth: number) => `/control/payments${query(nth)}`
      const seen = await storm(service, api, { path, count, connections: count })
      if (count < 500) assertOnly(seen.outcomes)
      said.push(`${count} ${what} ${seen.said}`)
    }
    return `${payments} payments: ${said.join(', ')}`
  }),
})
