import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { tagged } from '../../hosted/document.ts'
import {
  askedAbout,
  deciding,
  hex,
  type Keys,
  mistaken,
  refusedMessage,
  right,
  signatureIn,
} from '../../support/checking-receivers.ts'
import type { Client } from '../../support/client.ts'
import { runHere } from '../../support/command.ts'
import { elementWith, signIn, stepsOf } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import type { Behaviour, Received } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { messagesAndPayments, receiving } from '../../support/subscriber.ts'

onEveryDatabase(
  'Asking a receiver',
  service => {
    const messageTo = (t: TestContext, behaveWith: (keys: Keys) => Behaviour) =>
      refusedMessage(service(), t, behaveWith)
    const askAbout = (api: Client, id: string) => askedAbout(service(), api, id)
    const rows = () => messagesAndPayments(service())

    test('each known mistake is named, and no other, with at most 45 copies to the webhook alone', async t => {
      for (const [cause, expected] of Object.entries(mistaken)) {
        const { api, id, subscriber } = await messageTo(t, keys =>
          deciding(request => signatureIn(request) === expected(request.body, keys)),
        )
        const before = await rows()
        const arrived = subscriber.requests.length
        const asked = await askAbout(api, id)
        assert.equal(asked.cause, cause, asked.sentence)
        const sent = subscriber.requests.slice(arrived)
        assert.equal(asked.posts, sent.length)
        assert.ok(sent.length <= 45, cause)
        assert.equal(new Set(sent.map(({ body }) => body)).size, 1, 'the original bytes')
        assert.equal(await rows(), before)
      }
    })

    test('the sentence, the line to change and the copies that show it are told', async t => {
      const { api, id } = await messageTo(t, keys =>
        deciding(
          request => signatureIn(request) === mistaken['body:printed-python']?.(request.body, keys),
        ),
      )
      const { sentence, advice, evidence } = await askAbout(api, id)
      assert.equal(
        sentence,
        'Your receiver checks a wrong signature: what it computes is made of the body parsed and printed again by json.dumps() of Python.',
      )
      assert.match(advice, /^Express: express\.raw\({ type: 'application\/json' }\)$/m)
      const marks = await service().database.query<{ body: string; status: number }>(
        `select body, status from exchanges where exchange_id in ($1, $2) order by status`,
        evidence,
      )
      assert.deepEqual(
        marks.map(({ body, status }) => [status, JSON.parse(body).by_hand]),
        [
          [
            200,
            {
              kind: 'asked',
              words: 'the body parsed and printed again by json.dumps() of Python',
              damage: 'body:printed-python',
            },
          ],
          [401, { kind: 'asked', words: 'the right signature' }],
        ],
      )
    })

    test('a receiver that checks rightly, checks nothing, refuses all or answers something else is told so', async t => {
      const refusing =
        (status: (request: Received, keys: Keys) => number) =>
        (keys: Keys): Behaviour => ({
          plain: true,
          onRequest: ({ request, response }) => response.writeHead(status(request, keys)).end(),
        })
      const isRight = (request: Received, keys: Keys) =>
        signatureIn(request) === right(request.body, keys)
      for (const [cause, posts, behaviour] of [
        ['accepts', 2, refusing((request, keys) => (isRight(request, keys) ? 200 : 401))],
        ['checks-nothing', 2, refusing(() => 204)],
        ['not-the-signature', 2, refusing((request, keys) => (isRight(request, keys) ? 400 : 401))],
        ['unsteady', 2, refusing((request, keys) => (isRight(request, keys) ? 401 : 200))],
        ['other-answer', 1, refusing(() => 404)],
        ['unknown', 45, refusing(() => 403)],
      ] as const) {
        const { api, id } = await messageTo(t, behaviour)
        const asked = await askAbout(api, id)
        assert.deepEqual([asked.cause, asked.posts], [cause, posts], asked.sentence)
      }
    })

    test('a receiver that accepts everything after some copies is not accused of the mistake of one', async t => {
      let copies = 0
      const { api, id } = await messageTo(t, () => deciding(() => ++copies > 8))
      copies = 0
      const { cause, posts } = await askAbout(api, id)
      assert.deepEqual([cause, posts], ['unsteady', 10])
    })

    test('a signature in the answer of the receiver is looked at first, unless it is that of the header', async t => {
      const telling =
        (computed: (body: string, keys: Keys) => string, compares = true) =>
        (keys: Keys): Behaviour => ({
          plain: true,
          onRequest: ({ request, response }) => {
            const got = signatureIn(request)
            const own = computed(request.body, keys)
            response
              .writeHead(compares && got === own ? 200 : 401, { 'X-Expected': own })
              .end(JSON.stringify({ error: `${got} is wrong` }))
          },
        })
      const onlyTelling =
        (computed: (body: string, keys: Keys) => string) =>
        (keys: Keys): Behaviour => ({
          plain: true,
          onRequest: ({ request, response }) =>
            response.writeHead(401).end(computed(request.body, keys)),
        })
      const rare = (body: string, { own }: Keys) => hex(Buffer.from(body, 'utf16le'), own)
      for (const [cause, posts, behaviour] of [
        ['body:in-utf-16', 0, telling(rare)],
        ['digest:upper', 0, telling((body, keys) => right(body, keys).toUpperCase())],
        ['key:newline', 0, telling((body, { own }) => hex(body, `${own}\n`))],
        ['compared-wrongly', 0, telling(right, false)],
        // The header that it got is no signature that it computed.
        ['unknown', 45, telling(() => 'nothing', false)],
        ['compared-wrongly', 2, onlyTelling(right)],
      ] as const) {
        const { api, id } = await messageTo(t, behaviour)
        const asked = await askAbout(api, id)
        assert.deepEqual([asked.cause, asked.posts], [cause, posts], asked.sentence)
        // Who asks again has changed something since, so the old response counts no more.
        if (posts === 0) assert.ok((await askAbout(api, id)).posts > 0)
      }
    })

    test('the page of a refused message says how many copies will be sent, asks, and shows the answer and the copies', async t => {
      let isMended = false
      const { api, id } = await messageTo(t, keys =>
        deciding(
          request =>
            isMended || signatureIn(request) === mistaken['key:newline']?.(request.body, keys),
        ),
      )
      const browser = await signIn(service(), api)
      const before = await browser.get(`messages/${id}`)
      const [, most] = /Sends at most (\d+) copies of this message to http/.exec(before.text) ?? []
      assert.equal(most, '45')
      const asked = await browser.post(`messages/${id}/ask`, {})
      assert.deepEqual([asked.status, asked.location], [303, `messages/${id}`])
      const page = await browser.get(`messages/${id}`)
      const sentence =
        'Your receiver checks a wrong signature: what it computes is made with the key with a newline at its end.'
      const answer = elementWith(page, 'asked')
      assert.ok(answer.text.includes(sentence), answer.text)
      assert.match(answer.text, /nothing before or after it: no quotes, no space, no newline/)
      const copies = elementWith(page, 'copies').inside.filter(tagged('a'))
      assert.match(copies.at(-1)?.text ?? '', /Asked, with the right signature/)
      assert.match(copies[1]?.text ?? '', /Asked, with the key with a newline at its end/)
      assert.match(elementWith(page, 'cause').text, /^The receiver answered 401 Unauthorized/)
      const copy = await browser.get(copies[1]?.attributes.href?.replace('../', '') ?? '')
      assert.match(copy.text, /Sent by hand Asked, with the key with a newline/)
      const [message] = (await ask(service(), api, `messages?message_id=${id}`)).body.results
      const steps = stepsOf(await browser.get(`payments/${message.payment_id}`))
      assert.equal(steps.filter(step => step.includes('Asked')).length, 0)
      const step = steps.find(each => each.includes('In the console: the receiver was asked'))
      assert.ok(step?.includes(sentence), steps.join('\n'))
      isMended = true
      service().clock.advance(1_000)
      await browser.post(`messages/${id}/send`, {})
      assert.match(
        (await browser.get(`messages/${id}`)).text,
        /Ask the receiver It accepted the message at \S+\. What it did before, when it was asked at \S+ Your receiver checks/,
      )
    })

    test('farthing verify --ask tells the answer, as text and as JSON, and ends with 0 only for a receiver that is right', async t => {
      const run = ({ key = '' }: Client, ...args: string[]) =>
        runHere({
          args: ['verify', ...args],
          env: { FARTHING_API_KEY: key, FARTHING_URL: service().baseUrl },
        })
      const { api, id } = await messageTo(t, () => deciding(() => false))
      const refused = await run(api, '--ask', id)
      assert.equal(refused.code, 3)
      assert.match(refused.stdout, /^None of the 43 known mistakes that were tried is accepted\./)
      assert.match(
        refused.stdout,
        /^45 copies sent\. What shows it:\n {2}http\S+\/console\/requests\//m,
      )
      const json = await run(api, '--ask', id, '--json')
      assert.deepEqual([json.code, JSON.parse(json.stdout).cause], [3, 'unknown'])
      const mended = await messageTo(t, keys =>
        deciding(request => signatureIn(request) === right(request.body, keys)),
      )
      assert.equal((await run(mended.api, '--ask', mended.id)).code, 0)
      assert.equal((await run(api, '--ask', 'unknown')).code, 1)
      assert.equal((await run(api, '--ask', id, '--computed', 'x')).code, 2)
    })

    test('an unknown message is a 404, one of a deactivated webhook or of a payment that is gone a 409', async t => {
      const { api, id, subscriber } = await messageTo(t, () => deciding(() => false))
      const arrived = subscriber.requests.length
      const refusedWith = async (path: string, by = api) => {
        const { status, body } = await ask(service(), by, path, {})
        return [status, body.code]
      }
      const path = `messages/${id}/ask`
      assert.deepEqual(await refusedWith('messages/unknown/ask'), [404, 'C0200'])
      assert.deepEqual(await refusedWith(path, await service().newAccount()), [404, 'C0200'])
      await api.delete(`/v1/webhooks/${subscriber.webhook.external_id}`)
      assert.deepEqual(await refusedWith(path), [409, 'C0409'])
      const gone = await messageTo(t, () => deciding(() => false))
      await gone.api.advance(7 * 24 * 60 * 60 * 1000)
      assert.deepEqual(await refusedWith(`messages/${gone.id}/ask`, gone.api), [409, 'C0409'])
      assert.equal(subscriber.requests.length, arrived, 'nothing was sent')
    })
  },
  { ...receiving, control: true },
)
