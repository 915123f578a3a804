import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY } from '../../../src/core/time.ts'
import { tagged } from '../../hosted/document.ts'
import { briefOf } from '../../support/assertions.ts'
import {
  addWebhook,
  askedAbout,
  deciding,
  type Keys,
  mistaken,
  passSecond,
  refusedMessage,
  right,
  signatureIn,
} from '../../support/checking-receivers.ts'
import type { Client } from '../../support/client.ts'
import { runHere } from '../../support/command.ts'
import { byId, headingOf, signIn, stepsOf } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import type { Behaviour, Received } from '../../support/receiver.ts'
import { judging, judgingReceivers } from '../../support/receivers.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { gated, messagesAndPayments, receiving } from '../../support/subscriber.ts'

/** A receiver that takes only the signature that `expected` computes. */
const expecting = (expected: typeof right) => (keys: Keys) =>
  deciding(request => signatureIn(request) === expected(request.body, keys))

onEveryDatabase('Asking a receiver', { ...receiving, control: true }, service => {
  const messageTo = (t: TestContext, behaveWith: (keys: Keys) => Behaviour) =>
    refusedMessage(service(), t, behaveWith)
  const askAbout = (api: Client, id: string) => askedAbout(service(), api, id)
  const run = ({ key = '' }: Client, line: string) => {
    const env = { FARTHING_API_KEY: key, FARTHING_URL: service().baseUrl }
    return runHere({ args: line.split(' '), env })
  }

  test('the answer has the sentence, the line to change and the copies as evidence', async t => {
    const { api, id } = await messageTo(t, expecting(mistaken('body:printed-python')))
    const { sentence, advice, evidence } = await askAbout(api, id)
    assert.equal(
      sentence,
      'Your receiver checks a wrong signature: what it computes is made of the body parsed and printed again by json.dumps() of Python.',
    )
    assert.match(advice, /^Express: express\.raw\({ type: 'application\/json' }\)$/m)
    const marks = await service().database.query<{ body: string; status: number }>(
      'select body, status from exchanges where exchange_id in ($1, $2)',
      evidence,
    )
    const byStatus = marks.map(({ body, status }) => [status, JSON.parse(body).by_hand])
    const words = 'the body parsed and printed again by json.dumps() of Python'
    assert.deepEqual(Object.fromEntries(byStatus), {
      200: { kind: 'asked', words, damage: 'body:printed-python' },
      401: { kind: 'asked', words: 'the right signature' },
    })
  })

  test('a signature in the answer of the receiver is tried first, unless it is that of the header', async t => {
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
    const onlyTelling = (keys: Keys): Behaviour => ({
      plain: true,
      onRequest: ({ request, response }) => response.writeHead(401).end(right(request.body, keys)),
    })
    for (const [cause, posts, behaviour] of [
      ['body:in-utf-16', 0, telling(mistaken('body:in-utf-16'))],
      ['digest:upper', 0, telling(mistaken('digest:upper'))],
      ['compared-wrongly', 0, telling(right, false)],
      // The response quotes the header that arrived, and no signature that the receiver computed.
      ['unknown', 45, telling(() => 'nothing', false)],
      ['compared-wrongly', 2, onlyTelling],
    ] as const) {
      const { api, id } = await messageTo(t, behaviour)
      await passSecond(service())
      const asked = await askAbout(api, id)
      assert.deepEqual([asked.cause, asked.posts], [cause, posts], asked.sentence)
      // Somebody who asks again has changed something since, so the old response counts no more.
      if (posts === 0) assert.ok((await askAbout(api, id)).posts > 0, cause)
    }
  })

  test('the page of a refused message says how many copies will be sent, asks the receiver, and shows its answer and the copies', async t => {
    let isMended = false
    const { api, id } = await messageTo(t, keys =>
      deciding(
        request => isMended || signatureIn(request) === mistaken('key:newline')(request.body, keys),
      ),
    )
    const browser = await signIn(service(), api)
    const before = await browser.get(`messages/${id}`)
    assert.match(before.text, /Sends at most 45 copies of this message to http/)
    const asked = await browser.post(`messages/${id}/ask`, {})
    assert.deepEqual([asked.status, asked.location], [303, `messages/${id}`])
    const page = await browser.get(`messages/${id}`)
    const sentence =
      'Your receiver checks a wrong signature: what it computes is made with the key with a newline at its end.'
    const answer = byId(page, 'asked')
    assert.ok(answer.text.includes(sentence), answer.text)
    assert.match(answer.text, /nothing before or after it: no quotes, no space, no newline/)
    const copies = byId(page, 'copies').inside.filter(tagged('a'))
    assert.match(copies.at(-1)?.text ?? '', /Asked, with the right signature/)
    assert.match(copies[1]?.text ?? '', /Asked, with the key with a newline at its end/)
    assert.match(byId(page, 'cause').text, /^The receiver answered 401 Unauthorized/)
    const copy = await browser.get(copies[1]?.attributes.href?.replace('../', '') ?? '')
    assert.match(copy.text, /Sent by hand Asked, with the key with a newline/)
    const [message] = (await ask(service(), api, `messages?message_id=${id}`)).body.results
    const steps = stepsOf(await browser.get(`payments/${message.payment_id}`))
    assert.equal(steps.filter(step => step.includes('Asked')).length, 0)
    const step = steps.find(each => each.includes('In the console: the receiver was asked'))
    assert.ok(step?.includes(sentence), steps.join('\n'))
    isMended = true
    await passSecond(service())
    await browser.post(`messages/${id}/send`, {})
    assert.match(
      (await browser.get(`messages/${id}`)).text,
      /Ask the receiver It accepted the message at \S+\. What it did before, when it was asked at \S+ Your receiver checks/,
    )
  })

  test('a message of a deactivated webhook, or of a payment that is gone, is a 409', async t => {
    const { api, id, subscriber } = await messageTo(t, () => deciding(() => false))
    const arrived = subscriber.requests.length
    const refusedWith = async (by: Client, message: string) =>
      briefOf(await ask(service(), by, `messages/${message}/ask`, {}))
    await api.delete(`/v1/webhooks/${subscriber.webhook.external_id}`)
    assert.equal(await refusedWith(api, id), '409 C0409')
    const gone = await messageTo(t, () => deciding(() => false))
    await gone.api.advance(7 * DAY)
    assert.equal(await refusedWith(gone.api, gone.id), '409 C0409')
    assert.equal(subscriber.requests.length, arrived, 'nothing was sent')
  })

  test('the answer names the other webhook of the account whose key a receiver has', async t => {
    const { api, id } = await messageTo(t, expecting(mistaken('key:other-webhook')))
    service().clock.advance(1)
    for (let i = 0; i < 30; i++) await addWebhook(api, `Webhook ${i}`)
    const { cause, sentence, posts } = await askAbout(api, id)
    assert.deepEqual([cause, posts], ['key:other-webhook', 34], sentence)
    assert.match(sentence, /is made with the key of Archive, and the message is signed with /)
  })

  test('a receiver that accepts nothing most likely has an unknown key, and the answer counts the mistakes that were not tried', async t => {
    const { api, id, subscriber } = await messageTo(t, () => deciding(() => false))
    const few = await askAbout(api, id)
    assert.equal(few.posts, 45)
    assert.match(few.sentence, /^None of the 43 known mistakes that were tried is accepted\. /)
    const untried = /Not tried: \d+ more \(at most 45 copies are sent, within 30 seconds\)/
    assert.match(few.sentence, untried)
    const { signing_key } = subscriber.webhook
    const another = `has 39 characters and ends with ${signing_key.slice(-4)}: let your receiver print`
    assert.match(few.sentence, new RegExp(`has another signing key\\. That of \\S+ ${another}`))
    assert.match(few.advice, /^Each webhook has a key of its own.*[\s\S]*\n.*CSRF protection.*$/)
    const page = await (await signIn(service(), api)).get(`messages/${id}`)
    assert.ok(byId(page, 'signing-key').text.includes(signing_key))
    for (let i = 0; i < 47; i++) await addWebhook(api, `Webhook ${i}`)
    const many = await askAbout(api, id)
    assert.match(many.sentence, /Not tried: \d+ more and the keys of 5 other webhooks \(at most 45/)
  })

  test('an account asks or probes one receiver at a time, and refuses others meanwhile', async t => {
    let opens = false
    const gate = gated(t, ({ response }) => response.writeHead(401).end())
    const { api, id, subscriber } = await messageTo(t, () => ({
      plain: true,
      onRequest: answer =>
        opens ? gate.behaviour.onRequest?.(answer) : answer.response.writeHead(401).end(),
    }))
    opens = true
    const arrived = subscriber.requests.length
    const first = askAbout(api, id)
    while (subscriber.requests.length === arrived) await new Promise(setImmediate)
    const probe = `webhooks/${subscriber.webhook.external_id}/probe`
    for (const path of [`messages/${id}/ask`, `messages/${id}/ask`, probe]) {
      const refused = await ask(service(), api, path, {})
      assert.equal(briefOf(refused), '409 C0409')
      assert.match(refused.body.description, /^messages of this account are being sent by hand /)
    }
    const browser = await signIn(service(), api)
    for (const path of [`messages/${id}/ask`, probe]) {
      const page = await browser.post(path)
      assert.deepEqual([page.status, headingOf(page)], [409, 'Messages are being sent already'])
    }
    assert.equal(subscriber.requests.length, arrived + 1, 'nothing else was sent')
    gate.open()
    await first
    assert.equal((await ask(service(), api, probe, {})).status, 200)
  })

  test('the refusal of a damaged message proves nothing if the receiver refuses the undamaged one too, or the copy of it that it was asked with', async t => {
    let isMended = false
    const { api, id } = await messageTo(t, keys =>
      deciding(request => isMended && signatureIn(request) === right(request.body, keys)),
    )
    const send = async (json: object) => {
      const { body } = await ask(service(), api, `messages/${id}/send`, json)
      return [body.results[0].verdict, body.results[0].sentence]
    }
    const BOTH = 'It refuses the undamaged message too, so this says nothing. Mend that first.'
    for (const wrong of [{ damage: 'digit' }, { damage: 'missing' }, { signing_key: 'another' }])
      assert.deepEqual(await send(wrong), [null, BOTH])
    const refused = await run(api, `resend ${id} --damage digit`)
    assert.deepEqual([refused.code, refused.stdout.includes(BOTH)], [3, true], refused.stdout)
    const browser = await signIn(service(), api)
    assert.match(byId(await browser.get(`messages/${id}`), 'cause').text, /says nothing/)
    isMended = true
    await passSecond(service())
    // No undamaged message was sent since.
    assert.deepEqual(await send({ damage: 'digit' }), [null, BOTH])
    assert.deepEqual(await send({}), [null, null])
    await passSecond(service())
    const MUST = 'Your receiver refused it, as it must.'
    assert.deepEqual(await send({ damage: 'digit' }), ['refused', MUST])
    const proven = await run(api, `resend ${id} --damage digit`)
    assert.deepEqual([proven.code, proven.stdout.includes(MUST)], [0, true])
    const page = await browser.get(`messages/${id}`)
    assert.equal(byId(page, 'answer-to-wrong').text, 'refused, as it must be')
    isMended = false
    await passSecond(service())
    await send({})
    isMended = true
    await passSecond(service())
    assert.equal((await askAbout(api, id)).cause, 'accepts')
    assert.deepEqual(await send({ damage: 'upper' }), ['refused', MUST])
  })

  // The tests above read the rows. The search itself reads none, so one database is enough for the tests below.

  test('each receiver’s known mistake is found, and no other, with at most 45 copies to its webhook alone', async t => {
    if (service().kind === 'postgres') return
    for (const [name, { judge, asked: cause }] of Object.entries(judgingReceivers)) {
      if (cause === undefined) continue
      // The receiver reads no payment.
      const nowhere = { knows: () => true, read: async () => 'none', pass: () => {} }
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

  test('the answer names a receiver that refuses all or only what is right, answers something else or is not steady', async t => {
    if (service().kind === 'postgres') return
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
      ['not-the-signature', 2, refusing((request, keys) => (isRight(request, keys) ? 400 : 401))],
      ['unsteady', 2, refusing((request, keys) => (isRight(request, keys) ? 401 : 200))],
      ['other-answer', 1, refusing(() => 404)],
      ['unknown', 45, refusing(() => 403)],
      // The receiver refuses two attempts and 8 copies, and then no more. So its refusals may be no mistake.
      ['unsteady', 10, refusing(() => (++arrived > 10 ? 200 : 401))],
    ] as const) {
      arrived = 0
      const { api, id } = await messageTo(t, behaviour)
      const asked = await askAbout(api, id)
      assert.deepEqual([asked.cause, asked.posts], [cause, posts], asked.sentence)
    }
  })

  test('farthing verify --ask prints the answer as text and as JSON, and ends with 0 only for a receiver that is right', async t => {
    if (service().kind === 'postgres') return
    const { api, id } = await messageTo(t, () => deciding(() => false))
    const refused = await run(api, `verify --ask ${id}`)
    assert.equal(refused.code, 3)
    assert.match(refused.stdout, /^None of the 43 known mistakes that were tried is accepted\./)
    assert.match(refused.stdout, /^45 copies sent\. What shows it:\n {2}http\S+\/console\//m)
    const json = await run(api, `verify --ask ${id} --json`)
    assert.deepEqual([json.code, JSON.parse(json.stdout).cause], [3, 'unknown'])
    const mended = await messageTo(t, expecting(right))
    assert.equal((await run(mended.api, `verify --ask ${mended.id}`)).code, 0)
    assert.equal((await run(api, 'verify --ask unknown')).code, 1)
    assert.equal((await run(api, `verify --ask ${id} --computed x`)).code, 2)
  })
})
