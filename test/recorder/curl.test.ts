import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asCurl } from '../../src/tools/record/curl.ts'
import type { Exchange } from '../../src/tools/record/exchange.ts'
import { keptCreate } from '../support/record.ts'
import { checkCurl, hasCurl } from './curl.ts'

const SITE = 'http://127.0.0.1:3000'

const created: Exchange = {
  ...keptCreate,
  request_headers: { 'content-type': 'application/json', 'idempotency-key': "it's 1" },
  request_body: { text: '{"reference":"a\'b"}' },
}

const commandOf = (exchange: Exchange): string => {
  const curl = asCurl(exchange, SITE)
  assert.ok('command' in curl, 'reason' in curl ? curl.reason : '')
  return curl.command
}

describe('A recorded exchange as curl', () => {
  test('sends the same bytes through a real shell, and executes nothing else', {
    skip: !hasCurl && 'curl is not installed here',
  }, async () => {
    assert.ok((await checkCurl(100, 2_025)) > 60)
  })

  test('names the variable with the key, escapes control characters, and has the address of an attempt', () => {
    assert.equal(
      commandOf(created),
      String.raw`# The Idempotency-Key is used up: the answer is the same payment. Change it for another.
# export FARTHING_API_KEY=...
curl -i -g --path-as-is \
  -H "Authorization: Bearer $FARTHING_API_KEY" \
  -H 'content-type: application/json' \
  -H 'idempotency-key: it'\''s 1' \
  -H 'accept:' \
  -H 'user-agent:' \
  --data-raw '{"reference":"a'\''b"}' \
  'http://127.0.0.1:3000/v1/payments'`,
    )
    const piped = commandOf({ ...created, request_body: { text: '-a\r\n\u001b[0m 100%\\' } })
    assert.match(piped, /^printf '\\055a\\015\n\\033\[0m 100%%\\134' \| curl -i/m)
    assert.match(piped, /--data-binary @- \\$/m)
    const attempt = commandOf({
      ...created,
      kind: 'out',
      operation: 'card_payment_captured',
      path: 'https://example.org/hook',
      request_headers: { 'Pay-Signature': 'f00', Host: 'example.org', 'Content-Length': '2' },
    })
    assert.doesNotMatch(attempt, /Authorization|Host|Content-Length/)
    assert.match(attempt, /-H 'Pay-Signature: f00'/)
    assert.match(attempt, /^ {2}'https:\/\/example\.org\/hook'$/m)
  })

  test('is not offered where the record has less than the request had, and says why', () => {
    for (const [change, why] of [
      [{ kind: 'page' }, /form of a page/],
      [{ secret_body: true }, /card/],
      [{ path: '/v1/payments/…' }, /masked/],
      [{ query: 'a=é' }, /characters/],
      [{ path: 'http://example.org/v1/payments' }, /whole address/],
      [{ request_headers: { accept: '\ufffd' } }, /not UTF-8/],
      [{ request_body: { text: 'x', cut: 65_536 } }, /beginning/],
      [{ request_body: { text: '/w==', base64: true } }, /not UTF-8/],
      [{ request_body: { text: 'a\0b' } }, /NUL/],
    ] as const) {
      const curl = asCurl({ ...created, ...change }, SITE)
      assert.ok('reason' in curl, JSON.stringify(change))
      assert.match(curl.reason, why)
    }
    const masked = commandOf({ ...created, request_body: { text: '"…"' } })
    assert.match(masked, /# … is what was masked or cut/)
  })
})
