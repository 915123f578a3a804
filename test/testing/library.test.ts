/** The library, once on a thread of this process and once connected to another process. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import {
  ControlError,
  connectFarthing,
  startFarthing,
  Undelivered,
  WaitError,
} from '../../src/testing/library.ts'
import type * as Library from '../../src/testing/public.d.ts'
import { sendUnchecked, webPayment } from '../support/client.ts'
import { startProcess } from '../support/process.ts'
import { runLines } from '../support/recipe.ts'

// Does not compile if the declarations that users get differ from the implementation.
const implementation: Pick<typeof Library, 'startFarthing' | 'connectFarthing'> = {
  startFarthing,
  connectFarthing,
}

const KEY = 'a-key-for-the-library-tests'

/** The code of the error, or the status, for a payment of 0 pence, which the specification allows. */
async function answerToNothing({ send }: Pick<Library.Account, 'send'>) {
  const { status, body } = await send('POST', '/v1/payments', { ...webPayment, amount: 0 })
  return body.code ?? status
}

async function connectToProcess(): Promise<{ farthing: Library.Farthing; end(): Promise<void> }> {
  const env = {
    DATABASE_URL: 'sqlite::memory:',
    FARTHING_API_KEY: KEY,
    FARTHING_CONTROL: 'true',
    FARTHING_CALLBACK_HOSTS: '127.0.0.1',
  }
  const { baseUrl: url, terminate } = await startProcess({ env })
  const farthing = await implementation.connectFarthing({ url, key: KEY })
  return { farthing, end: async () => void (await terminate()) }
}

async function startThread() {
  const farthing = await implementation.startFarthing()
  return { farthing, end: async () => {} }
}

for (const [title, begin] of [
  ['on a thread', startThread],
  ['connected to a process', connectToProcess],
] as const)
  describe(`The library ${title}`, () => {
    let farthing: Library.Farthing
    let end = async () => {}
    before(async () => {
      ;({ farthing, end } = await begin())
    })
    after(async () => {
      await farthing.stop()
      await farthing.stop()
      await end()
    })

    test('a test pays, refunds, advances the clock by 5 seconds and 7 days, and reads 404', async () => {
      await using account = await farthing.account()
      const payment = await account.payment({ scenario: 'success' })
      assert.equal(payment.state.status, 'success')
      const path = `/v1/payments/${payment.payment_id}`
      const { body: refund } = await account.send('POST', `${path}/refunds`, { amount: 500 })
      const refundStatus = async () =>
        (await account.send('GET', `${path}/refunds/${refund.refund_id}`)).body.status
      assert.equal(await refundStatus(), 'submitted')
      await account.clock.advance('5s')
      assert.equal(await refundStatus(), 'success')
      await account.clock.advance('7d')
      assert.equal((await account.send('GET', path)).status, 404)
    })

    test('an account that is used with await using ends with its scope', async () => {
      let key = ''
      {
        await using account = await farthing.account({ at: '2026-01-01T00:00:00Z' })
        key = account.key
        assert.equal((await account.clock.now()).toISOString(), '2026-01-01T00:00:00.000Z')
      }
      assert.equal((await sendUnchecked(`${farthing.url}/v1/payments`, { key })).status, 401)
    })

    test('a receiver has the messages, checks their signatures and responds as set', async () => {
      await using account = await farthing.account()
      const receiver = await account.receive({
        events: ['card_payment_captured', 'card_payment_refunded'],
      })
      const payment = await account.payment({ scenario: 'success', refund: true })
      const { payment_id } = payment
      const refunded = await receiver.next({ event: 'card_payment_refunded' })
      assert.deepEqual(refunded.payment, payment)
      const captured = await receiver.next({ payment_id })
      assert.equal(captured.event_type, 'card_payment_captured')
      const mac = createHmac('sha256', receiver.signingKey).update(captured.raw).digest('hex')
      assert.equal(captured.headers['pay-signature'], mac)
      assert.equal(receiver.all().length, 2)
      await account.settled({ timeout: '30s' })
      await assert.rejects(receiver.next({}, { timeout: 20 }), /returned before/)
      receiver.answer(message => ({
        status: message.event_type === 'card_payment_captured' ? 503 : 204,
      }))
      await account.payment({ scenario: 'success' })
      const error = await account.settled({ timeout: '30s' }).catch((error: unknown) => error)
      assert.ok(error instanceof Undelivered)
      assert.equal(error.messages.length, 1)
      const says = /^1 given up:\n {2}card_payment_captured of .+: FAILED, 503 .+, then 503/
      assert.match(error.message, says)
    })

    test('a wait resolves with the payment as soon as it matches', async () => {
      await using account = await farthing.account()
      const waiting = account.waitForPayment({ reference: 'R-7', status: 'success' })
      const payment = await account.payment({ reference: 'R-7' })
      const { payment_id } = await account.waitForPayment('R-7')
      await account.complete(payment)
      assert.equal((await waiting).state.status, 'success')
      const started = await account.waitForPayment({ payment_id, status: 'started' })
      assert.equal(started.payment_id, payment.payment_id)
    })

    // The tests below run the same code, whichever service it asks.
    if (begin === connectToProcess) return

    test('a wait that fails describes the state instead, and a wait ends with its signal', async () => {
      await using account = await farthing.account()
      const { payment_id } = await account.payment({ reference: 'R-7', scenario: 'declined' })
      const plan = await account.plan({ times: 2, answer: { status: 503 } })
      await account.send('GET', `/v1/payments/${payment_id}`)
      const wait = account.waitForPayment({ reference: 'R-7', status: 'success' }, { timeout: 50 })
      await assert.rejects(wait, {
        constructor: WaitError,
        message:
          /^waited 50 ms for R-7 to be success\. R-7 is failed P0010, created [\d:.]{12}\. Last requests: GET \/v1\/payments\/\w+ 503 P0999\.$/,
      })
      assert.equal((await account.requests()).length, 1)
      assert.deepEqual(await plan.counts(), { seen: 1, acted: 1 })
      await assert.rejects(account.waitForPayment('R-8', { timeout: 0 }), /is no such payment/)
      const controller = new AbortController()
      const aborted = account.waitForPayment('R-8', { signal: controller.signal })
      controller.abort()
      await assert.rejects(aborted, { name: 'AbortError' })
    })

    test('an account is kept if a wait fails and that was asked for, and the error has the link to its pages', async () => {
      const statusWith = async ({ key }: Library.Account) =>
        (await sendUnchecked(`${farthing.url}/v1/payments`, { key })).status
      const kept = await farthing.account({ keepOnFailure: true })
      const receiver = await kept.receive({ answer: 503 })
      await kept.payment({ scenario: 'declined' })
      const link = `\nIts account is kept: ${farthing.url}/console/a/${kept.name}`
      for (const failing of [
        () => kept.waitForPayment('R-8', { timeout: 0 }),
        () => receiver.next({ event: 'card_payment_refunded' }, { timeout: 0 }),
        () => kept.settled(),
        () => kept.check({ failOn: 'note' }),
      ])
        await assert.rejects(failing(), (error: Error) => error.message.endsWith(link))
      await kept.end()
      const fine = await farthing.account({ keepOnFailure: true })
      await fine.end()
      const unasked = await farthing.account()
      await assert.rejects(unasked.waitForPayment('R-8', { timeout: 0 }), /requests\.$/)
      await unasked.end()
      const statuses = await Promise.all([kept, fine, unasked].map(statusWith))
      assert.deepEqual(statuses, [200, 401, 401])
    })

    test('a wait for all messages tells a receiver that hangs and a webhook that was deleted from one that took them', async () => {
      await using hanging = await farthing.account()
      const slow = await hanging.receive({ answer: { status: 200, delay: '30s' } })
      const paying = hanging.payment({ scenario: 'declined' })
      while (slow.all().length === 0) await new Promise(setImmediate)
      const pending = /: 1 not delivered after 20 ms:\n {2}card_payment_failed of .+: PENDING/
      await assert.rejects(hanging.settled({ timeout: 20 }), pending)
      await slow.close()
      await paying
      await assert.rejects(hanging.settled({ timeout: '30s' }), /card_payment_failed of .+: FAILED/)
      await using deleted = await farthing.account()
      const receiver = await deleted.receive()
      await receiver.close()
      await deleted.payment({ scenario: 'declined' })
      await deleted.settled({ timeout: '30s' })
    })

    test('a plan acts once, says what it did, and is removed with its scope', async () => {
      await using account = await farthing.account()
      {
        await using plan = await account.plan({ on: 'readPayment', answer: { status: 503 } })
        const { payment_id } = await account.payment()
        const path = `/v1/payments/${payment_id}`
        assert.equal((await account.send('GET', path)).status, 503)
        assert.equal((await account.send('GET', path)).status, 200)
        assert.deepEqual(await plan.counts(), { seen: 2, acted: 1 })
        const [first] = await account.requests()
        assert.deepEqual([first?.answered, first?.plan], ['replaced', plan.plan_id])
      }
      assert.deepEqual((await account.send('GET', '/control/plans')).body.results, [])
      const lost = await account.plan({ on: 'createPayment', when: 'after', reset: true })
      await assert.rejects(account.send('POST', '/v1/payments', { ...webPayment, reference: 'R' }))
      assert.equal((await account.waitForPayment('R')).reference, 'R')
      await account.reset()
      await lost.remove()
      await assert.rejects(lost.counts(), { status: 404 })
    })

    test('the requests of the application are listed, whole, filtered, and also if their bytes fill more than a page', async () => {
      await using account = await farthing.account()
      const { payment_id } = await account.payment()
      await account.send('GET', `/v1/payments/${payment_id}`)
      await account.send('POST', '/v1/payments', { amount: 0 })
      const all = await account.requests()
      const found = all.map(({ operation, status }) => `${operation} ${status}`)
      assert.deepEqual(found, ['readPayment 200', 'createPayment 400'])
      assert.equal((await account.requests({ payment_id })).length, 1)
      const large = { reference: 'x'.repeat(7_000) }
      for (let i = 0; i < 200; i++) await account.send('POST', '/v1/payments', large)
      assert.equal((await account.requests()).length, 202)
    })

    test('a reset empties the account, and keeps its key and, unless told, its behaviour', async () => {
      await using account = await farthing.account({ behaviour: 'govuk-pay' })
      await account.payment({ reference: 'R-7' })
      assert.equal(await answerToNothing(account), 'P0102')
      await account.reset({ at: new Date('2026-01-01') })
      assert.equal((await account.send('GET', '/v1/payments')).body.total, 0)
      assert.equal(await answerToNothing(account), 'P0102')
      await account.clock.freeze('2026-01-02T00:00:00Z')
      assert.equal((await account.clock.resume()).toISOString().slice(0, 10), '2026-01-02')
      await account.reset({ behaviour: 'specification' })
      assert.equal(await answerToNothing(account), 201)
    })

    test('a refused request is a ControlError with its code and field', async () => {
      await using account = await farthing.account()
      await assert.rejects(account.payment({ refund: 1 }), (error: Error) => {
        assert.ok(error instanceof ControlError)
        assert.deepEqual([error.status, error.code, error.field], [422, 'C0102', 'refund'])
        assert.match(error.message, /^POST \/control\/payments: 422 C0102 refund needs/)
        return true
      })
      const advanced = account.clock.advance('soon' as '5s')
      await assert.rejects(advanced, /^TypeError: clock\.advance: 'soon' is not a duration/)
      await assert.rejects(account.clock.freeze('soon'), /clock\.freeze: 'soon' is not a time/)
    })

    test('the example for the shell pays, refunds and moves time with curl', async () => {
      const shell = { cwd: process.cwd(), port: 0, env: farthing.env }
      const { stdout, stderr } = await runLines('sh examples/shell.sh', shell)
      assert.equal(stdout + stderr, 'paid, refunded, and gone after 180 days\n')
    })

    test('20 tests at once, each with an account and a receiver, do not affect one another', async () => {
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          await using account = await farthing.account()
          const receiver = await account.receive()
          const reference = `R-${i % 3}`
          const patience = { timeout: '120s' } as const
          const waiting = account.waitForPayment({ reference, status: 'success' }, patience)
          const { payment_id } = await account.payment({ reference, amount: 100 + i })
          await account.complete(payment_id)
          assert.equal((await waiting).amount, 100 + i)
          assert.equal((await receiver.next({}, patience)).payment_id, payment_id)
          assert.equal((await account.send('GET', '/v1/payments')).body.total, 1)
        }),
      )
    })
  })

test('a service has the behaviour that it was started with, and so have its accounts unless told', async () => {
  await using farthing = await startFarthing({ behaviour: 'govuk-pay' })
  await using account = await farthing.account()
  await using told = await farthing.account({ behaviour: 'specification' })
  const answers = await Promise.all([farthing, account, told].map(answerToNothing))
  assert.deepEqual(answers, ['P0102', 'P0102', 201])
})

test('a process that forgets to stop ends by itself, with fake timers and no trace of the library', async () => {
  const script = `
    import { mock } from 'node:test'
    import { startFarthing } from './src/testing/library.ts'
    mock.timers.enable()
    const farthing = await startFarthing()
    const account = await farthing.account()
    const receiver = await account.receive()
    await account.payment({ scenario: 'success' })
    await receiver.next()
    await account.waitForPayment({ reference: 'none' }, { timeout: 100 }).catch(() => {})
    console.log(process.exitCode, process.listenerCount('exit'), process.listenerCount('uncaughtException'))`
  const args = ['--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  assert.equal(stdout, 'undefined 0 0\n')
})
