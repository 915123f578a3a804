import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  askedAbout,
  deciding,
  type Keys,
  refusedMessage,
  right,
  signatureIn,
} from '../../support/checking-receivers.ts'
import type { Client } from '../../support/client.ts'
import { runHere } from '../../support/command.ts'
import type { Behaviour, Received } from '../../support/receiver.ts'
import { judging, judgingReceivers } from '../../support/receivers.ts'
import { onOneDatabase } from '../../support/service.ts'
import { messagesAndPayments, receiving } from '../../support/subscriber.ts'

/** A receiver that reads no payment. */
const nowhere = { knows: () => true, read: async () => 'none', pass: () => {} }

// The search itself reads no row: ask.test.ts has what does.
onOneDatabase(
  'What a receiver is asked, and what its answers mean',
  { ...receiving, control: true },
  service => {
    const messageTo = (t: TestContext, behaveWith: (keys: Keys) => Behaviour) =>
      refusedMessage(service(), t, behaveWith)
    const run = ({ key = '' }: Client, ...args: string[]) =>
      runHere({ args, env: { FARTHING_API_KEY: key, FARTHING_URL: service().baseUrl } })
    const askAbout = (api: Client, id: string) => askedAbout(service(), api, id)

    test('each receiver’s known mistake is found, and no other, with at most 45 copies to its webhook alone', async t => {
      for (const [name, { judge, asked: cause }] of Object.entries(judgingReceivers)) {
        if (cause === undefined) continue
        const { api, id, subscriber } = await messageTo(t, keys =>
          judging(judge, { ...nowhere, keys }),
        )
        const before = await messagesAndPayments(service())
        const arrived = subscriber.requests.length
        const asked = await askAbout(api, id)
        assert.equal(asked.cause, cause, `${name}: ${asked.sentence}`)
        const sent = subscriber.requests.slice(arrived)
        assert.equal(asked.posts, sent.length)
        assert.ok(sent.length <= 45, name)
        assert.equal(new Set(sent.map(({ body }) => body)).size, 1, 'the original bytes')
        assert.equal(await messagesAndPayments(service()), before)
      }
    })

    test('the answer names a receiver that checks rightly, checks nothing, refuses all, answers something else or is not steady', async t => {
      const refusing =
        (status: (request: Received, keys: Keys) => number) =>
        (keys: Keys): Behaviour => ({
          plain: true,
          onRequest: ({ request, response }) => response.writeHead(status(request, keys)).end(),
        })
      let arrived = 0
      const isRight = (request: Received, keys: Keys) =>
        signatureIn(request) === right(request.body, keys)
      for (const [cause, posts, behaviour] of [
        ['accepts', 2, refusing((request, keys) => (isRight(request, keys) ? 200 : 401))],
        ['checks-nothing', 2, refusing(() => 204)],
        ['not-the-signature', 2, refusing((request, keys) => (isRight(request, keys) ? 400 : 401))],
        ['unsteady', 2, refusing((request, keys) => (isRight(request, keys) ? 401 : 200))],
        ['other-answer', 1, refusing(() => 404)],
        ['unknown', 45, refusing(() => 403)],
        // Two attempts, and what was refused before this copy may be no mistake.
        ['unsteady', 10, refusing(() => (++arrived > 10 ? 200 : 401))],
      ] as const) {
        arrived = 0
        const { api, id } = await messageTo(t, behaviour)
        const asked = await askAbout(api, id)
        assert.deepEqual([asked.cause, asked.posts], [cause, posts], asked.sentence)
      }
    })

    test('farthing verify --ask prints the answer as text and as JSON, and ends with 0 only for a receiver that is right', async t => {
      const { api, id } = await messageTo(t, () => deciding(() => false))
      const refused = await run(api, 'verify', '--ask', id)
      assert.equal(refused.code, 3)
      assert.match(refused.stdout, /^None of the 43 known mistakes that were tried is accepted\./)
      assert.match(
        refused.stdout,
        /^45 copies sent\. What shows it:\n {2}http\S+\/console\/requests\//m,
      )
      const json = await run(api, 'verify', '--ask', id, '--json')
      assert.deepEqual([json.code, JSON.parse(json.stdout).cause], [3, 'unknown'])
      const mended = await messageTo(t, keys =>
        deciding(request => signatureIn(request) === right(request.body, keys)),
      )
      assert.equal((await run(mended.api, 'verify', '--ask', mended.id)).code, 0)
      assert.equal((await run(api, 'verify', '--ask', 'unknown')).code, 1)
      assert.equal((await run(api, 'verify', '--ask', id, '--computed', 'x')).code, 2)
    })
  },
)
