import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { signature } from '../../src/pay/webhooks/webhook.ts'
import { tempFolder } from '../support/folders.ts'
import { copyOf, isMissing, type Language, languages, run, start } from '../support/languages.ts'
import { freePort } from '../support/ports.ts'
import { signalGroup } from '../support/process-tree.ts'

const KEY = 'webhook_test_prhkrb89l43v8bk43schrlpkdj'
const MISSING = 'SIGNING_KEY is not set, and without it anybody could sign messages'

const javascript: Language = {
  name: 'JavaScript',
  folder: 'javascript',
  needs: [],
  tests: [],
  testFile: '',
  receiver: port => [process.execPath, 'receiver.ts', `${port}`],
}

let messages = 0
const newMessage = (fields: object = {}): string =>
  JSON.stringify({
    webhook_message_id: `06g9u0q0i94vts7dhg3k087${String(++messages).padStart(3, '0')}`,
    event_type: 'card_payment_captured',
    resource_id: `payment-${messages}`,
    resource: { description: 'é £ 💷' },
    ...fields,
  })

type Sent = {
  /** Fields of a new message. */
  fields?: object
  body?: string
  sign?: (body: string) => string
  method?: string
  chunks?: number
}

async function send(port: number, { fields, body = newMessage(fields), ...sent }: Sent) {
  const { sign = (signed: string) => signature(signed, KEY), method = 'POST', chunks = 0 } = sent
  const signed = sign(body)
  const bytes = Buffer.from(body)
  const outgoing = request({
    port,
    method,
    agent: false,
    headers: {
      'Content-Type': 'application/json',
      ...(signed && { 'Pay-Signature': signed }),
      ...(method === 'POST' && chunks === 0 && { 'Content-Length': bytes.length }),
    },
  })
  // A receiver may answer before it has read a body that is too long.
  outgoing.on('error', () => {})
  const answered = once(outgoing, 'response')
  const size = Math.ceil(bytes.length / Math.max(chunks, 1))
  for (let at = 0; at < bytes.length; at += size) outgoing.write(bytes.subarray(at, at + size))
  outgoing.end()
  const [response] = await answered
  response.resume()
  return response.statusCode as number
}

async function startReceiver(language: Language, key: string | undefined) {
  const port = await freePort()
  const seen = join(tempFolder(), 'messages')
  const environment = { MESSAGES: seen, ...(key !== undefined && { SIGNING_KEY: key }) }
  const { child, output } = start(language.receiver(port), await copyOf(language), environment)
  const stop = () => signalGroup(child.pid, 'SIGKILL')
  // The answer is 405 or 500, but shows that the receiver listens.
  const look: Sent = { method: 'GET', body: '', sign: () => 'x' }
  while (child.exitCode === null && !(await send(port, look).catch(() => 0))) await pause(20)
  assert.equal(child.exitCode, null, output())
  return { port, seen, output, stop }
}

for (const language of [...languages, javascript]) {
  const { name, folder } = language

  describe(`Receiver of examples/${folder}`, { concurrency: 1, skip: isMissing(language) }, () => {
    let receiver: Awaited<ReturnType<typeof startReceiver>>
    before(async () => {
      receiver = await startReceiver(language, KEY)
    })
    after(() => receiver?.stop())
    const printed = (body: string) =>
      receiver.output().split(`of payment ${JSON.parse(body).resource_id}\n`).length - 1
    /** How often the receiver has handled the message. Once it has printed a later one, it has printed this one. */
    async function handled(body: string): Promise<number> {
      const last = newMessage()
      assert.equal(await send(receiver.port, { body: last }), 200)
      while (printed(last) === 0) await pause(10)
      return printed(body)
    }

    const refused: Record<string, [status: number, sent: Sent]> = {
      'a wrong signature': [401, { sign: () => signature('other', KEY) }],
      'half a signature': [401, { sign: () => 'c8b2d8b6b25346ee' }],
      'a signature in capitals': [401, { sign: body => signature(body, KEY).toUpperCase() }],
      'a signature that is not ASCII': [401, { sign: () => 'é'.repeat(64) }],
      'no signature': [401, { sign: () => '' }],
      'a message signed with the empty key': [401, { sign: body => signature(body, '') }],
      'no body and no signature': [401, { body: '', sign: () => '' }],
      'a signed body that is no JSON': [400, { body: 'status=success' }],
      'a signed body that is empty': [400, { body: '' }],
      'a signed list': [400, { body: '[]' }],
      'a signed null': [400, { body: 'null' }],
      'a signed number': [400, { body: '7' }],
      'a signed message without an identifier': [400, { body: '{"resource_id": "1"}' }],
      'an identifier that is a path': [400, { fields: { webhook_message_id: '../elsewhere' } }],
      'an identifier that is a number': [400, { fields: { webhook_message_id: 7 } }],
      'a body of 1.5 MB': [413, { fields: { resource: 'x'.repeat(1_500_000) } }],
      'a GET request': [405, { method: 'GET', body: '' }],
    }
    for (const [what, [status, sent]] of Object.entries(refused))
      test(`${name} answers ${status} to ${what}`, async () => {
        assert.equal(await send(receiver.port, sent), status)
      })

    test(`${name} handles a message once, however often it comes`, async () => {
      const body = newMessage()
      assert.equal(await send(receiver.port, { body }), 200)
      assert.equal(await send(receiver.port, { body }), 200)
      assert.equal(await handled(body), 1)
      const another = newMessage()
      const both = [1, 2].map(() => send(receiver.port, { body: another }))
      assert.deepEqual(await Promise.all(both), [200, 200])
      assert.equal(await handled(another), 1)
    })

    test(`${name} reads a body in chunks`, async () => {
      const body = newMessage()
      assert.equal(await send(receiver.port, { body, chunks: 3 }), 200)
      assert.equal(await handled(body), 1)
    })

    for (const [what, key] of [
      ['without SIGNING_KEY', undefined],
      ['with an empty SIGNING_KEY', ''],
    ] as const)
      test(`${name} takes nothing ${what}, and says why`, async t => {
        const body = newMessage()
        if (language.refusesEachRequest) {
          const { port, output, seen, stop } = await startReceiver(language, key)
          t.after(stop)
          assert.equal(await send(port, { body, sign: () => signature(body, '') }), 500)
          // The line may come after the response.
          while (!output().includes(MISSING)) await pause(10)
          assert.throws(() => readdirSync(seen))
        } else {
          const command = language.receiver(await freePort())
          const env = key === undefined ? {} : { SIGNING_KEY: key }
          const { code, output } = await run(command, await copyOf(language), env)
          assert.ok(code, output)
          assert.ok(output.includes(MISSING), output)
        }
      })
  })
}
