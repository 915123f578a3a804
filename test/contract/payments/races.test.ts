import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Answer } from '../../support/client.ts'
import { payOnPages, read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

const MANY = 20

/** Sends MANY requests of each kind at once, alternating between the kinds. Returns the answers of each kind. */
async function race(...kinds: (() => Promise<Answer>)[]): Promise<Answer[][]> {
  const started = Array.from({ length: MANY }, () => kinds.map(kind => kind()))
  return Promise.all(kinds.map((_, i) => Promise.all(started.flatMap(round => round[i] ?? []))))
}

const count = (answers: Answer[] = [], status: number) =>
  answers.filter(answer => answer.status === status).length

onSharedDatabases('Payments: races', service => {
  const capturable = async () => {
    const api = await service().newAccount()
    const payment = await payOnPages(api, await api.createPayment({ delayed_capture: true }))
    const { cancel, capture } = payment._links
    return {
      api,
      payment,
      cancel: () => api.post(cancel.href),
      capture: () => api.post(capture.href),
    }
  }
  const paid = ['created', 'started', 'submitted', 'capturable']

  test(`of ${MANY} cancels and ${MANY} captures at once one wins, and the others return the error for the new state`, async () => {
    const { api, payment, cancel, capture } = await capturable()
    const [cancels, captures] = await race(cancel, capture)
    const won = [count(cancels, 204), count(captures, 204)]
    assert.deepEqual([...won].sort(), [0, 1])
    for (const answer of cancels ?? []) if (answer.status !== 204) assertError(answer, 400, 'P0501')
    for (const answer of captures ?? [])
      if (answer.status !== 204) assertError(answer, 409, 'P1003')
    const { state } = await read(api, payment)
    assert.equal(state.status, won[0] === 1 ? 'cancelled' : 'success')
    assert.deepEqual(await statusesOf(api, payment), [...paid, state.status])
  })

  test(`${MANY} reads during a capture see the payment before or after it and never between`, async () => {
    const { api, payment, capture } = await capturable()
    const reads = race(() => api.get(payment._links.self.href))
    await capture()
    const [answers = []] = await reads
    for (const { body } of answers) {
      const { status } = body.state
      assert.ok(status === 'capturable' || status === 'success', status)
      assert.equal(body.settlement_summary.captured_date !== undefined, status === 'success')
      assert.equal(body._links.capture !== undefined, status === 'capturable')
    }
  })

  test('every read and search sees a change as soon as the request that made it was answered', async () => {
    const api = await service().newAccount()
    for (let round = 0; round < 10; round++) {
      const { payment_id } = await api.createPayment({ reference: `round ${round}` })
      const [one, found] = await Promise.all([
        api.get(`/v1/payments/${payment_id}`),
        api.get(`/v1/payments?reference=round%20${round}`),
      ])
      assert.equal(one.status, 200)
      assert.equal(found.body.total, 1)
      await api.post(`/v1/payments/${payment_id}/cancel`)
      const after = await api.get('/v1/payments?state=cancelled')
      assert.equal(after.body.total, round + 1)
    }
  })
})
