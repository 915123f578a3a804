import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isSigned } from '../../../examples/javascript/receiver.ts'
import { signature } from '../../../src/pay/webhooks/webhook.ts'

const KEY = 'webhook_test_prhkrb89l43v8bk43schrlpkdj'
const BODY =
  '{"webhook_message_id":"06g9u0q0i94vts7dhg3k087ps5","api_version":1,' +
  '"created_date":"2026-09-14T08:23:05.618Z","resource_id":"06g9u0765u0svu9dh5jt4ctffr",' +
  '"resource_type":"payment","event_type":"card_payment_captured","resource":' +
  '{"payment_id":"06g9u0765u0svu9dh5jt4ctffr","amount":4650,"description":"Caffè pitch, £46.50"}}'
const SIGNATURE = 'c8b2d8b6b25346ee50602423c15a396369d6b6591dc8942ecd3d624ca7a658a1'

type Signed = [body: Buffer, paySignature: string, signingKey: string]

type Verify = (signed: Signed[]) => boolean[]

const verifiers: Record<string, Verify> = {
  'examples/javascript/receiver.ts': signed => signed.map(given => isSigned(...given)),
}
// Python and OpenSSL are optional on the machines that run these tests.
if (spawnSync('python3', ['--version']).status === 0)
  verifiers['examples/python/receiver.py'] = signed => {
    const script = `import json, sys
from receiver import is_signed
print(json.dumps([is_signed(bytes.fromhex(body), *given) for body, *given in json.load(sys.stdin)]))`
    const input = JSON.stringify(signed.map(([body, ...given]) => [body.toString('hex'), ...given]))
    const cwd = fileURLToPath(new URL('../../../examples/python', import.meta.url))
    // -B: leaves no compiled file in the clone.
    const { stdout, stderr } = spawnSync('python3', ['-B', '-c', script], { cwd, input })
    assert.equal(`${stderr}`, '')
    return JSON.parse(`${stdout}`)
  }
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

// test/testing/language-receivers.test.ts tests other refusals, contract/control signatures by hand and to listeners.
for (const [name, verify] of Object.entries(verifiers))
  test(`Webhooks: ${name} accepts a body that was signed with the key, and refuses another body or key`, () => {
    const body = Buffer.from(BODY)
    const other = 'another key, è'
    const signed: Signed[] = [
      [body, SIGNATURE, KEY],
      [body, signature(BODY, other), other],
      [Buffer.from(BODY.replace('4650', '4651')), SIGNATURE, KEY],
      [Buffer.from(`${BODY}\n`), SIGNATURE, KEY],
      [body, SIGNATURE, `${KEY.slice(0, -1)}k`],
      [body, SIGNATURE, KEY.replace('webhook_test_', '')],
      [body, `0${SIGNATURE.slice(1)}`, KEY],
    ]
    assert.deepEqual(verify(signed), [true, true, ...Array(5).fill(false)])
  })
