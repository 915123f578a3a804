import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isSigned } from '../../../examples/verify-signature.ts'
import { signature } from '../../../src/webhooks/webhook.ts'
import { databaseKinds, startService } from '../../support/service.ts'
import { cancelOne } from './payment-changes.ts'

const example = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url))

const KEY = 'webhook_test_prhkrb89l43v8bk43schrlpkdj'
const BODY =
  '{"webhook_message_id":"06g9u0q0i94vts7dhg3k087ps5","api_version":1,' +
  '"created_date":"2026-09-14T08:23:05.618Z","resource_id":"06g9u0765u0svu9dh5jt4ctffr",' +
  '"resource_type":"payment","event_type":"card_payment_captured","resource":' +
  '{"payment_id":"06g9u0765u0svu9dh5jt4ctffr","amount":4650,"description":"Caffè pitch, £46.50"}}'
const SIGNATURE = 'c8b2d8b6b25346ee50602423c15a396369d6b6591dc8942ecd3d624ca7a658a1'

type Verify = (body: Buffer, paySignature: string, signingKey: string) => boolean

const verifiers: Record<string, Verify> = { 'verify-signature.ts': isSigned }
// Python is optional on the machines that run these tests.
if (spawnSync('python3', ['--version']).status === 0)
  verifiers['verify_signature.py'] = (body, paySignature, signingKey) => {
    const script = example('verify_signature.py')
    const { status } = spawnSync('python3', [script, paySignature, signingKey], { input: body })
    assert.ok(status === 0 || status === 1)
    return status === 0
  }

test('Pay-Signature is the lower-case hexadecimal HMAC-SHA256 of the body, keyed with the whole signing key', () => {
  assert.equal(Buffer.byteLength(BODY), 322)
  assert.equal(signature(BODY, KEY), SIGNATURE)
})

for (const [name, verify] of Object.entries(verifiers))
  describe(`Webhooks: examples/${name}`, () => {
    const body = Buffer.from(BODY)

    test(`examples/${name} accepts a body that was signed with the key`, () => {
      assert.equal(verify(body, SIGNATURE, KEY), true)
    })

    const wrong: Record<string, [body: Buffer, paySignature: string, signingKey: string]> = {
      'another body': [Buffer.from(BODY.replace('4650', '4651')), SIGNATURE, KEY],
      'the same body with a line break': [Buffer.from(`${BODY}\n`), SIGNATURE, KEY],
      'an empty body': [Buffer.alloc(0), SIGNATURE, KEY],
      'another key': [body, SIGNATURE, `${KEY.slice(0, -1)}k`],
      'the key without its prefix': [body, SIGNATURE, KEY.replace('webhook_test_', '')],
      'another signature': [body, `0${SIGNATURE.slice(1)}`, KEY],
      'the first half of the signature': [body, SIGNATURE.slice(0, 32), KEY],
      'the signature in capitals': [body, SIGNATURE.toUpperCase(), KEY],
      'no signature': [body, '', KEY],
      'a signature that is not ASCII': [body, 'é'.repeat(32), KEY],
    }
    for (const [what, given] of Object.entries(wrong))
      test(`examples/${name} refuses ${what}`, () => {
        assert.equal(verify(...given), false)
      })
  })

describe('Webhooks: examples/receive-webhooks.ts', () => {
  /** Starts it. Returns its URL, and a function that waits for a text and returns it. */
  async function startReceiver(t: TestContext, env: Record<string, string>) {
    const child = spawn(process.execPath, [example('receive-webhooks.ts')], {
      env: { ...env, PORT: env.PORT ?? '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill())
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', text => {
      printed += text
    })
    const untilPrinted = async (text: string | RegExp): Promise<string> => {
      for (;;) {
        const [found] = printed.match(text) ?? []
        if (found !== undefined) return found
        await once(child.stdout, 'data')
      }
    }
    return { url: await untilPrinted(/http:\S+/), untilPrinted, stop: () => child.kill() }
  }

  test('examples/receive-webhooks.ts receives messages over http from an allowed host and checks their signatures', async t => {
    const [kind] = databaseKinds
    const service = await startService(kind ?? 'sqlite', {
      env: { FARTHING_CALLBACK_HOSTS: 'localhost' },
      resolve: async () => ['127.0.0.1', '::1'],
    })
    t.after(() => service.stop())
    const api = await service.newAccount()

    const unaware = await startReceiver(t, {})
    const { body: webhook } = await api.post('/v1/webhooks', { callback_url: unaware.url })
    assert.equal((await cancelOne(api)).status, 204)
    await unaware.untilPrinted('signature not checked')
    unaware.stop()

    const receiver = await startReceiver(t, {
      SIGNING_KEY: webhook.signing_key,
      PORT: new URL(unaware.url).port,
    })
    assert.equal((await cancelOne(api)).status, 204)
    await receiver.untilPrinted('signature right')
    await receiver.untilPrinted(/card_payment_cancelled of payment [0-9a-v]{26}/)
    const { body } = await api.get(`/v1/webhooks/${webhook.external_id}/messages`)
    for (const message of body.results) {
      assert.equal(message.last_delivery_status, 'SUCCESSFUL')
      assert.equal(message.latest_attempt.result, '204 No Content')
    }

    const headers = { 'Pay-Signature': SIGNATURE }
    const forged = await fetch(receiver.url, { method: 'POST', headers, body: BODY })
    assert.equal(forged.status, 400)
    await receiver.untilPrinted('signature WRONG')
  })
})
