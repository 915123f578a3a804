import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { before, describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isSigned } from '../../../examples/verify-signature.ts'
import { signature } from '../../../src/pay/webhooks/webhook.ts'
import { ask } from '../../support/control.ts'
import { databaseKinds, startService } from '../../support/service.ts'
import { receiving, subscribe } from '../../support/subscriber.ts'
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

type Signed = [body: Buffer, paySignature: string, signingKey: string]

/** Returns whether each signature is right. */
type Verify = (signed: Signed[]) => boolean[]

const verifiers: Record<string, Verify> = {
  'examples/verify-signature.ts': signed => signed.map(given => isSigned(...given)),
}
// Python is optional on the machines that run these tests.
const hasPython = spawnSync('python3', ['--version']).status === 0
if (hasPython)
  verifiers['examples/verify_signature.py'] = signed => {
    const script = `import json, sys
from verify_signature import is_signed
print(json.dumps([is_signed(bytes.fromhex(body), *given) for body, *given in json.load(sys.stdin)]))`
    const input = JSON.stringify(signed.map(([body, ...given]) => [body.toString('hex'), ...given]))
    const cwd = fileURLToPath(new URL('../../../examples', import.meta.url))
    // -B: leaves no compiled file in the clone.
    const { stdout, stderr } = spawnSync('python3', ['-B', '-c', script], { cwd, input })
    assert.equal(`${stderr}`, '')
    return JSON.parse(`${stdout}`)
  }
// So is OpenSSL.
if (spawnSync('openssl', ['version']).status === 0)
  verifiers['openssl dgst'] = signed =>
    signed.map(([body, paySignature, signingKey]) => {
      const options = ['dgst', '-sha256', '-hmac', signingKey]
      const { stdout } = spawnSync('openssl', options, { input: body, encoding: 'utf8' })
      return stdout.trim().endsWith(`= ${paySignature}`)
    })

test('Pay-Signature is the lower-case hexadecimal HMAC-SHA256 of the body, keyed with the whole signing key', () => {
  assert.equal(Buffer.byteLength(BODY), 322)
  assert.equal(signature(BODY, KEY), SIGNATURE)
})

for (const [name, verify] of Object.entries(verifiers))
  describe(`Webhooks: ${name}`, () => {
    const body = Buffer.from(BODY)
    const right: Signed = [body, SIGNATURE, KEY]
    const wrong: Record<string, Signed> = {
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
    let accepted = new Map<string, boolean | undefined>()
    before(() => {
      const results = verify([right, ...Object.values(wrong)])
      accepted = new Map(['right', ...Object.keys(wrong)].map((what, i) => [what, results[i]]))
    })

    test(`${name} accepts a body that was signed with the key`, () => {
      assert.equal(accepted.get('right'), true)
    })

    for (const what of Object.keys(wrong))
      test(`${name} refuses ${what}`, () => {
        assert.equal(accepted.get(what), false)
      })
  })

test('The program examples/verify_signature.py exits with 0 if the signature is right, else with 1', {
  skip: !hasPython && 'Python is not installed',
}, () => {
  for (const [paySignature, code] of [
    [SIGNATURE, 0],
    [SIGNATURE.toUpperCase(), 1],
  ] as const) {
    const args = [example('verify_signature.py'), paySignature, KEY]
    assert.equal(spawnSync('python3', args, { input: BODY }).status, code)
  }
})

test('Every verifier accepts what is sent: by itself, again, edited, under a new identifier, with another key, and through a listener', async t => {
  const service = await startService('sqlite', receiving)
  t.after(() => service.stop())
  const api = await service.newAccount()
  const { requests, webhook } = await subscribe(t, api)
  const reference = 'È 💷 "quoted"'
  const { payment_id } = await api.createPayment({ reference })
  await api.post(`/v1/payments/${payment_id}/cancel`)
  const [message] = (await ask(service, api, 'messages')).body.results
  const other = 'another key, è'
  for (const how of [
    { times: 2, at_once: true },
    { body: '{\n  "a": "è"\n}\n' },
    { new_identifier: true },
    { signing_key: other },
  ]) {
    const { status } = await ask(service, api, `messages/${message.message_id}/send`, how)
    assert.equal(status, 200)
  }
  const sent = requests.map(({ body, headers }, i) => ({
    body,
    signature: String(headers['pay-signature']),
    key: i === requests.length - 1 ? other : webhook.signing_key,
  }))
  const listener = (await ask(service, api, 'listeners', { name: 'laptop' })).body
  const path = `listeners/${listener.webhook_id}`
  const waiting = ask(service, api, `${path}/next?wait=10000`)
  const cancelled = cancelOne(api)
  const { attempt } = (await waiting).body
  const answer = { attempt_id: attempt.attempt_id, status_code: 200, result: '200 OK' }
  assert.equal((await ask(service, api, `${path}/results`, answer)).status, 204)
  assert.equal((await cancelled).status, 204)
  sent.push({
    body: attempt.body,
    signature: attempt.headers['Pay-Signature'],
    key: listener.signing_key,
  })
  assert.equal(sent.length, 7)
  const signed = sent.map(({ body, signature, key }): Signed => [Buffer.from(body), signature, key])
  for (const [name, verify] of Object.entries(verifiers))
    assert.deepEqual(verify(signed), Array(7).fill(true), name)
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
