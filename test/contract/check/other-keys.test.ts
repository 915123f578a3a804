import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addWebhook,
  askedAbout,
  deciding,
  refusedMessage,
  right,
  signatureIn,
} from '../../support/checking-receivers.ts'
import type { Client } from '../../support/client.ts'
import { runHere } from '../../support/command.ts'
import { elementWith, headingOf, signIn } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { gated, receiving } from '../../support/subscriber.ts'

const ANOTHER =
  /Most likely your receiver has another signing key\. That of localhost:\d+ has 39 characters and ends with (\w{4}): let your receiver print the length and the last four characters of the key that it reads\.$/

onEveryDatabase(
  'A receiver with another key, and what is said only after a comparison',
  service => {
    const run = ({ key = '' }: Client, ...args: string[]) =>
      runHere({ args, env: { FARTHING_API_KEY: key, FARTHING_URL: service().baseUrl } })

    test('a receiver with the key of any other webhook of the account is told which', async t => {
      const { api, id } = await refusedMessage(service(), t, keys =>
        deciding(
          request => signatureIn(request) === right(request.body, { ...keys, own: keys.other }),
        ),
      )
      service().clock.advance(1)
      for (let i = 0; i < 30; i++) await addWebhook(api, `Webhook ${i}`)
      const { cause, sentence, posts } = await askedAbout(service(), api, id)
      assert.deepEqual([cause, posts], ['key:other-webhook', 34], sentence)
      assert.match(
        sentence,
        /is made with the key of Archive, and the message is signed with the key/,
      )
    })

    test('a receiver that accepts nothing most likely has a key that nobody knows here, and what was not tried is counted', async t => {
      const { api, id, subscriber } = await refusedMessage(service(), t, () =>
        deciding(() => false),
      )
      const few = await askedAbout(service(), api, id)
      assert.equal(few.posts, 45)
      assert.match(few.sentence, /^None of the 43 known mistakes that were tried is accepted\. /)
      assert.match(
        few.sentence,
        /Not tried: \d+ more \(at most 45 copies are sent, within 30 seconds\)/,
      )
      const { signing_key } = subscriber.webhook
      assert.equal(ANOTHER.exec(few.sentence)?.[1], signing_key.slice(-4))
      assert.match(few.advice, /^Each webhook has a key of its own.*[\s\S]*\n.*CSRF protection.*$/)
      const browser = await signIn(service(), api)
      const page = await browser.get(`messages/${id}`)
      assert.ok(elementWith(page, 'signing-key').text.includes(signing_key))

      for (let i = 0; i < 47; i++) await addWebhook(api, `Webhook ${i}`)
      const many = await askedAbout(service(), api, id)
      assert.match(
        many.sentence,
        /Not tried: \d+ more and the keys of 5 other webhooks \(at most 45/,
      )
    })

    test('one at a time is asked or probed in an account, and the others are told so', async t => {
      let opens = false
      const gate = gated(({ response }) => response.writeHead(401).end())
      const { api, id, subscriber } = await refusedMessage(service(), t, () => ({
        plain: true,
        onRequest: answer =>
          opens ? gate.behaviour.onRequest?.(answer) : answer.response.writeHead(401).end(),
      }))
      opens = true
      const arrived = subscriber.requests.length
      const first = askedAbout(service(), api, id)
      while (subscriber.requests.length === arrived) await new Promise(setImmediate)
      const probe = `webhooks/${subscriber.webhook.external_id}/probe`
      for (const path of [`messages/${id}/ask`, `messages/${id}/ask`, probe]) {
        const { status, body } = await ask(service(), api, path, {})
        assert.deepEqual([status, body.code], [409, 'C0409'])
        assert.match(body.description, /^messages of this account are being sent by hand already, /)
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

    test('a refused damage says nothing where the undamaged message is refused too', async t => {
      let isMended = false
      const { api, id } = await refusedMessage(service(), t, keys =>
        deciding(request => isMended && signatureIn(request) === right(request.body, keys)),
      )
      const send = async (json: object) => {
        const { body } = await ask(service(), api, `messages/${id}/send`, json)
        return [body.results[0].verdict, body.results[0].sentence]
      }
      const BOTH = 'It refuses the undamaged message too, so this says nothing. Mend that first.'
      for (const wrong of [{ damage: 'digit' }, { damage: 'missing' }, { signing_key: 'another' }])
        assert.deepEqual(await send(wrong), [null, BOTH])
      const refused = await run(api, 'resend', id, '--damage', 'digit')
      assert.deepEqual([refused.code, refused.stdout.includes(BOTH)], [3, true], refused.stdout)
      const browser = await signIn(service(), api)
      assert.match(elementWith(await browser.get(`messages/${id}`), 'cause').text, /says nothing/)

      isMended = true
      service().clock.advance(1_000)
      assert.deepEqual(
        await send({ damage: 'digit' }),
        [null, BOTH],
        'nothing undamaged was sent since',
      )
      assert.deepEqual(await send({}), [null, null])
      const MUST = 'Your receiver refused it, as it must.'
      assert.deepEqual(await send({ damage: 'digit' }), ['refused', MUST])
      const proven = await run(api, 'resend', id, '--damage', 'digit')
      assert.deepEqual([proven.code, proven.stdout.includes(MUST)], [0, true])
      const page = await browser.get(`messages/${id}`)
      assert.equal(elementWith(page, 'answer-to-wrong').text, 'REFUSED, AS IT MUST')
    })

    test('what a receiver was asked is the undamaged message too', async t => {
      let isMended = false
      const { api, id } = await refusedMessage(service(), t, keys =>
        deciding(request => isMended && signatureIn(request) === right(request.body, keys)),
      )
      isMended = true
      service().clock.advance(1_000)
      assert.equal((await askedAbout(service(), api, id)).cause, 'accepts')
      const { body } = await ask(service(), api, `messages/${id}/send`, { damage: 'upper' })
      assert.equal(body.results[0].verdict, 'refused')
    })
  },
  { ...receiving, control: true },
)
