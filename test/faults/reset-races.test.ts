/** Resets that are thrown between the steps of other requests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webPayment } from '../support/client.ts'
import { resultOf } from '../support/held-send.ts'
import { planning } from '../support/plans.ts'
import { seed } from '../support/properties.ts'
import { type DatabaseKind, databaseKinds, startService } from '../support/service.ts'
import { checkInvariants } from './invariants.ts'
import { seeded } from './process/workload.ts'
import { shuffled } from './race.ts'

const ROUNDS = 6

async function raceResets(kind: DatabaseKind): Promise<void> {
  const random = seeded(seed)
  let sent = 0
  const service = await startService(kind, {
    control: true,
    async send() {
      sent += 1
      return resultOf(200)
    },
    ports: real => ({ database: shuffled(real.database, random) }),
  })
  const api = await service.newAccount()
  const plans = planning(() => service)
  const ask = (method: string, path: string, json?: object) =>
    plans.send(api, path, { method, ...(json && { json }) })
  const form = (path: string, body: string) =>
    plans.send(api, path, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await ask('POST', '/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
      const { body: payment } = await ask('POST', '/v1/payments', webPayment)
      const path = `/v1/payments/${payment.payment_id}`
      const page = new URL(payment._links.next_url.href).pathname
      // The possible statuses of each request, if it began before or after the reset.
      const steps: [possible: number[], step: () => ReturnType<typeof ask>][] = [
        [[201], () => ask('POST', '/v1/payments', webPayment)],
        [[200, 303, 404], () => ask('GET', page)],
        [[200, 303, 404], () => form(page, 'scenario=success')],
        [[303, 404], () => form(`${page}/confirm`, '')],
        [[204, 400, 404], () => ask('POST', `${path}/cancel`)],
        [[202, 400, 404], () => ask('POST', `${path}/refunds`, { amount: 1 })],
        [[200, 404], () => ask('GET', path)],
        [[201], () => ask('POST', '/control/plans', { delay: 0 })],
      ]
      const running = Array.from({ length: 12 }, async () => {
        const [possible, step] = steps[Math.floor(random() * steps.length)] ?? assert.fail()
        for (let turns = Math.floor(random() * 8); turns > 0; turns--)
          await new Promise(resolve => setImmediate(resolve))
        const { status } = await step()
        assert.ok(possible.includes(status), `${step} answered ${status}`)
      })
      const reset = await ask('POST', '/control/reset')
      assert.equal(reset.status, 200)
      const before = sent
      await Promise.all(running)
      // Requests that began after the reset may have sent; the payment from before is gone.
      assert.equal((await ask('GET', path)).status, 404)
      assert.equal((await ask('GET', page)).status, 404)
      await ask('POST', '/control/reset')
      for (const list of ['/v1/payments', '/v1/refunds', '/v1/webhooks'])
        assert.equal((await ask('GET', list)).body.total, 0, list)
      assert.equal((await ask('GET', '/control')).body.plans, 0)
      const after = sent
      await service.apps[0]?.deliveries.recover()
      assert.equal(sent, after, `nothing is sent for an old room (${before} were before)`)
    }
    await checkInvariants(service.database, { now: service.clock.now(), settled: true })
  } finally {
    await service.stop()
  }
}

for (const kind of databaseKinds)
  test(`A reset between the steps of other requests leaves an empty account and no impossible answer on ${kind}`, () =>
    raceResets(kind))
