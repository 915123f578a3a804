/** Requests over TLS, whose certificates may take long to check, keep no thread busy but one of their account. */
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { test } from 'node:test'
import { newAccount } from '../../src/core/account.ts'
import { SECURE_THREADS } from '../../src/core/budgets.ts'
import { createSecureRequests } from '../../src/platform/outbound/secure.ts'
import { authority } from '../support/certificates.ts'
import { postTo } from '../support/receiver.ts'
import { loopbackSend, open, receiverThat } from '../support/sending.ts'

/** How often Node made resources of these kinds on this thread while `work` went on. */
async function made(work: () => Promise<void>): Promise<{ TLSWRAP: number; WORKER: number }> {
  const counts = { TLSWRAP: 0, WORKER: 0 }
  const hook = createHook({
    init(_, type) {
      if (type === 'TLSWRAP' || type === 'WORKER') counts[type] += 1
    },
  }).enable()
  await work().finally(() => hook.disable())
  return counts
}

test('The requests of an account over TLS share a thread, and this one makes no connection for them.', async () => {
  const receiver = await receiverThat()
  const send = loopbackSend()
  const account = newAccount('tests')
  const child = { ...newAccount('tests.1'), parent: 'tests' }
  const counts = await made(async () => {
    for (const each of [account, child, account])
      assert.equal((await send({ ...postTo(receiver.url), account: each })).result, '200 OK')
  })
  // The receiver's own end of each connection is on this thread.
  assert.deepEqual(counts, { TLSWRAP: receiver.connections(), WORKER: 1 })
})

test('Each account has a thread of its own, until there are as many as there may be.', async () => {
  const receiver = await receiverThat()
  const options = { resolve: async () => ['127.0.0.1'], allowed: new Set(['localhost']) }
  const requests = createSecureRequests({ ...options, ca: authority })
  open.push(requests)
  const owners = Array.from({ length: SECURE_THREADS + 2 }, (_, i) => `account ${i}`)
  const results: string[] = []
  const counts = await made(async () => {
    for (const owner of owners)
      await new Promise<void>(resolve => {
        const sending = requests.request(owner, postTo(receiver.url), 60_000, resolve)
        void sending.then(({ result }) => results.push(result))
      })
  })
  assert.deepEqual(
    results,
    owners.map(() => '200 OK'),
  )
  assert.equal(counts.WORKER, SECURE_THREADS)
})

test('A thread that ends fails its requests, and the next request gets another.', async () => {
  const silent = await receiverThat({ onRequest: async () => {} })
  const send = loopbackSend()
  const sending = send({ ...postTo(silent.url), timeout: 60_000, keepsAnswer: true })
  while (silent.requests.length === 0) await new Promise(setImmediate)
  send.close()
  assert.equal((await sending).result, 'connection failed')
  const receiver = await receiverThat()
  const { result, answer } = await send({ ...postTo(receiver.url), keepsAnswer: true })
  assert.equal(result, '200 OK')
  assert.ok(Buffer.isBuffer((await answer)?.body))
})
