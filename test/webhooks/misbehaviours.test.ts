import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseAllowedHosts } from '../../src/outbound/address.ts'
import { createSend } from '../../src/outbound/send.ts'
import { authority } from '../support/certificates.ts'
import { misbehaviours } from '../support/misbehaviours.ts'
import { postTo, startReceiver } from '../support/receiver.ts'

const BODY = '{"description":"Caffè pitch, £46.50"}'

/** Milliseconds: the deadline of two seconds, with a margin for a busy machine. */
const DEADLINE = { least: 1950, most: 2900 }

/** Those that time out wait at the same time. The others are few at once, so that TLS handshakes do not delay each other. */
const groups = Object.groupBy(Object.entries(misbehaviours), ([, { attempts }]) =>
  attempts.some(({ result }) => result === 'timeout') ? 'slow' : 'fast',
)

for (const [group, concurrency] of [
  ['fast', 4],
  ['slow', true],
] as const)
  describe(`Misbehaving receivers, the ${group} ones:`, { concurrency, timeout: 20_000 }, () => {
    for (const [name, { behaviour, attempts }] of groups[group] ?? []) {
      test(`A receiver that ${name} leads to ${attempts.map(({ result }) => `"${result.slice(0, 40)}"`).join(' then ')}.`, async t => {
        const receiver = await startReceiver(behaviour)
        t.after(() => receiver.close())
        const send = createSend({
          resolve: async () => ['127.0.0.1'],
          allowed: parseAllowedHosts('localhost').hosts,
          ca: authority,
        })
        t.after(() => send.close())
        for (const expected of attempts) {
          const { status, status_code, response_time, result } = await send(
            postTo(receiver.url, BODY),
          )
          assert.deepEqual({ status_code, result }, expected)
          const delivered = status_code !== null && status_code >= 200 && status_code <= 299
          assert.equal(status, delivered ? 'SUCCESSFUL' : 'FAILED')
          if (behaviour.refuses) assert.equal(response_time, null, 'nothing was sent')
          if (result === 'timeout') {
            assert.ok(Number.isInteger(response_time), `${response_time}`)
            assert.ok(response_time! >= DEADLINE.least && response_time! <= DEADLINE.most)
          } else assert.ok((response_time ?? 0) < DEADLINE.least, `${response_time} ms`)
        }
        assert.ok(receiver.requests.length <= attempts.length, 'never more messages than attempts')
        assert.ok(receiver.requests.every(({ body }) => body === BODY))
      })
    }
  })
