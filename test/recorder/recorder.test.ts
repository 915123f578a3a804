import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Database, Time } from '../../src/core/ports.ts'
import type { RawAttempt } from '../../src/pay/webhooks/attempts.ts'
import { createFactWriter } from '../../src/tools/explain/check/production.ts'
import { createRecorder } from '../../src/tools/record/recorder.ts'

// Only the fields of a request and its response that the recorder reads.
const request = {
  account: { name: 'a-test', room: 'a-test', parent: 'default', behaviour: 'specification' },
  method: 'GET',
  url: '/v1/payments',
  began: 1,
  raw: { rawHeaders: [], socket: { destroyed: false } },
} as unknown as FastifyRequest
const reply = {
  statusCode: 200,
  elapsedTime: 1,
  getHeader: () => undefined,
} as unknown as FastifyReply

/** A recorder of a test account, whose rows are written when `write` is called. */
function recording() {
  const { promise: written, resolve } = Promise.withResolvers<boolean>()
  const recorder = createRecorder({
    // The recorder calls no more than this.
    database: {
      write: () => written,
      freeBytes: async () => Infinity,
    } as Partial<Database> as Database,
    time: { now: () => 1, wall: () => 1 } satisfies Time,
    secrets: [],
    most: Infinity,
    isTestAccount: () => true,
    isShared: false,
    onRecorded: () => {},
    onFault: assert.ifError,
    factWriter: createFactWriter(assert.ifError),
  })
  const { onSend } = recorder.hooks('api', { operationId: 'searchPayments' })
  let sent = 0
  return {
    recorder,
    sent: () => sent,
    respond: () => onSend(request, reply, '{}', () => sent++),
    /** Waits until this number of responses was sent in all. Rows are made in slices, so that takes some turns. */
    async write(most: number) {
      resolve(true)
      do await new Promise(setImmediate)
      while (sent < most)
    },
  }
}

test('where no other instance reads the record, responses of a test account wait for their rows only while 100 rows wait', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { recorder, respond, sent, write } = recording()
  for (let i = 1; i < 100; i++) respond()
  assert.equal(sent(), 99)
  respond()
  await new Promise(setImmediate)
  assert.equal(sent(), 99)
  await write(100)
  assert.equal(sent(), 100)
  await recorder.close()
})

test('the record closes once the answers have come that receivers still owe', async () => {
  const { recorder, write } = recording()
  const { promise: answer, resolve } = Promise.withResolvers<undefined>()
  const attempt = { url: '', headers: {}, body: '', result: '', answer }
  recorder.attempt(request.account, attempt as unknown as RawAttempt)
  let isClosed = false
  const closing = recorder.close().then(() => {
    isClosed = true
  })
  await write(0)
  assert.equal(isClosed, false)
  resolve(undefined)
  await closing
})
