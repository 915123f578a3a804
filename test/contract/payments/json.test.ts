import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Client } from '../../support/client.ts'
import { bodyText, webParts } from '../../support/new-payment.ts'
import { onOneDatabase } from '../../support/service.ts'

const utf8 = new TextEncoder()
const good = bodyText(webParts)
const open = good.slice(0, -1)

/** Nested more deeply than a recursive function can go. */
const deep = (inside: string) => `${'['.repeat(20_000)}${inside}${']'.repeat(20_000)}`

const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(parts.flatMap(part => (typeof part === 'string' ? [...utf8.encode(part)] : part)))

// http/order-of-checks.test.ts tests values that are no object, half an object, text after one and a __proto__ key.
onOneDatabase('Payments: JSON of POST /v1/payments', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })
  const headers = { 'Content-Type': 'application/json' }
  const send = (body: string | Uint8Array<ArrayBuffer>) =>
    api.request('POST', '/v1/payments', { headers, body })

  for (const [sentence, body] of Object.entries({
    'only white space': ' \r\n\t',
    'two objects': good + good,
    'an object after a comment': `/* a payment */${good}`,
    'an object with a control character in a string': `${open},"a":"\u0001"}`,
    'an object with an escaped __proto__ key': `${open},"\\u005f_proto__":{}}`,
    'an object with a __proto__ key at a lower level': `${open},"metadata":{"__proto__":1}}`,
    'an object with a __proto__ key below deep nesting': `${open},"note":${deep('{"__proto__":1}')}}`,
    'an object with text after it and more nesting than a parser can take': `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}x`,
    'a form': 'amount=4650&reference=a&description=b',
    'an object with a byte that is not UTF-8': bytes(`${open},"email":"`, [0xff], '"}'),
    'an object with an overlong UTF-8 sequence': bytes(`${open},"email":"`, [0xc0, 0xaf], '"}'),
    'an object with a surrogate in UTF-8': bytes(`${open},"email":"`, [0xed, 0xa0, 0x80], '"}'),
    'an object in UTF-16': new Uint8Array(Buffer.from(`\ufeff${good}`, 'utf16le')),
    'an object with invalid UTF-8 in an unknown field': bytes(`${open},"note":"`, [0xff], '"}'),
  }))
    test(`POST /v1/payments returns 400 P0197 when the body is ${sentence}`, async () =>
      assertError(await send(body), 400, 'P0197'))

  for (const [sentence, body] of Object.entries({
    'white space around it': `\r\n ${good}\t\n`,
    'a byte order mark': `\ufeff${good}`,
    'unknown keys at every level': `${open},"note":{"a":[1]},"prefilled_cardholder_details":{"b":null,"billing_address":{"c":5}}}`,
    'keys that every JavaScript object inherits': `${open},"constructor":1,"toString":null,"valueOf":{}}`,
    'escaped letters in its keys': good.replace('"amount"', '"\\u0061mount"'),
    'deep nesting in an unknown field': utf8.encode(`${open},"note":${deep('1')}}`),
    'deep nesting in an unknown field and an escape': utf8.encode(
      `${open},"name":"\\u0041","note":${deep('1')}}`,
    ),
  }))
    test(`POST /v1/payments accepts a body with ${sentence}`, async () => {
      const answer = await send(body)
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.body.amount, 4650)
    })

  test('POST /v1/payments uses the last of several equal keys', async () => {
    const { body } = await send(`{"amount":"x","reference":null,${good.slice(1, -1)},"amount":17}`)
    assert.equal(body.amount, 17)
    const last = await send(`${open},"amount":null}`)
    assertError(last, 400, 'P0101', { field: 'amount' })
  })

  test('only the amount itself must be written as an integer, however its name is escaped', async () => {
    const sent = (amount: string, metadata = '{"amount":1.0,"rate":1e3}') =>
      send(bodyText({ ...webParts, amount, metadata }))
    const made = await sent('-0')
    assert.equal(made.status, 201, made.text)
    assert.equal(made.body.amount, 0)
    assert.deepEqual(made.body.metadata, { amount: 1, rate: 1000 })
    assertError(await sent('1.0'), 400, 'P0102', { field: 'amount' })
    const escaped = bodyText({ ...webParts, amount: '1.0' }).replace('"amount"', '"\\u0061mount"')
    assertError(await send(escaped), 400, 'P0102', { field: 'amount' })
    const twice = bodyText({ ...webParts, amount: '1.0' }).replace(/}$/, ',"amount":7}')
    assert.equal((await send(twice)).body.amount, 7)
  })
})
