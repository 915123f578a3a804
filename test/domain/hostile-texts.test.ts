import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { penceIn } from '../../src/core/money.ts'
import { instant } from '../../src/core/values.ts'
import { returnAddress } from '../../src/pay/differences/creating.ts'
import { takesJson } from '../../src/pay/differences/values.ts'
import { readIdempotencyKey, readNewPayment } from '../../src/pay/payments/request.ts'
import { readSeal } from '../../src/platform/accounts/seal.ts'
import { cookiesNamed, routedInConsole } from '../../src/platform/accounts/session.ts'
import { decodeAscii } from '../../src/platform/http/addresses.ts'
import { hasEmptySegment, isBelow } from '../../src/platform/http/areas.ts'
import { formOf, jsonBody, multipartBody } from '../../src/platform/http/body.ts'
import { fastifyOptions } from '../../src/platform/http/fastify.ts'
import { isLostInBrowser } from '../../src/platform/http/server.ts'
import { callbackUrlProblem } from '../../src/platform/outbound/address.ts'
import { acceptsGzip, isOneOf } from '../../src/platform/web/assets.ts'
import { spanIn } from '../../src/tools/console/frame/list.ts'
import { pageOfAddress } from '../../src/tools/console/frame/visit.ts'
import { causeOf } from '../../src/tools/explain/causes.ts'
import { partsOf } from '../../src/tools/explain/check/facts.ts'
import { inHex, rewritten } from '../../src/tools/explain/signature/digests.ts'
import { isTooDeep, readJson } from '../../src/tools/explain/signature/json-text.ts'
import { createMask } from '../../src/tools/record/mask.ts'
import { type Expression, expressionsOf } from '../support/expressions.ts'
import { hostileTexts } from '../support/hostile-texts.ts'
import { createSteps } from '../support/steps.ts'

/** A text 8 times as long takes 8 times the steps if linear, 64 if square. Counts are right within a factor of two. */
const LONGER = 8
const MOST_GROWTH = 20

/** Says how the steps of an expression grow. Undefined for an expression that is not slow. */
function slownessOf(expression: Expression): string | undefined {
  const { place, source, flags } = expression
  const { drawn, size } = hostileTexts(expression)
  const stepsOf = createSteps(expression)
  for (const draw of drawn) {
    const [few, many] = [stepsOf(draw(size)), stepsOf(draw(LONGER * size))]
    if (many > MOST_GROWTH * few || few === Infinity)
      return `${place} /${source}/${flags}: ${few} steps for ${JSON.stringify(draw(3))} with ${size} times the middle, ${many} with ${LONGER} times as many`
  }
  return undefined
}

test('the regular expressions of src take steps that grow with the length of a text, not with its square', () => {
  const expressions = expressionsOf('src/')
  assert.ok(expressions.length > 250)
  const slowest = expressions.map(slownessOf).filter(each => each !== undefined)
  assert.deepEqual(slowest, [])
})

test('the count of steps finds expressions that take squares, cubes and powers, and no others', () => {
  const isSlow = ({ source, flags }: RegExp) =>
    slownessOf({ place: '', source, flags }) !== undefined
  const slow = [
    /^(?:(\d{4}-\d\d-\d\d)(?:[T\s]+|$))?(?:(\d\d?:\d\d))?\s*Z?$/i,
    /\s+$/,
    /^(?:a|b|ab)*$/,
    /(?<=a)(?:bc)*d|(?:bc)+e/,
    /^(?=.*,.*;)[a-z]+$/,
    /^([^?]*)\??([!-~]*)$/,
  ]
  const linear = [
    /^\s*([^\s].*)?$/s,
    /(?<!\/)\/+$/,
    /^(["']).*\1$/,
    /^a{0,40}a*b/,
    /^(?=.*\d)(?=.*[a-z])[\w-]{16,}$/i,
  ]
  const quick = slow.filter(each => !isSlow(each))
  assert.deepEqual(quick, [])
  assert.deepEqual(linear.filter(isSlow), [])
})

type Reader = (text: string) => unknown

const withHeader = (name: string, value: string) =>
  ({ headers: { [name]: value }, raw: { url: '/none' }, url: '/none' }) as unknown as FastifyRequest // they read no more

const payment = { amount: 1, reference: 'a', description: 'a', return_url: 'https://a.example' }
const mask = createMask(['a-known-secret'])
const bodyOf = (text: string) => ({ body: Buffer.from(text) }) as FastifyRequest // they read no more

const formWithFiles = (text: string, type: string) => {
  const raw = { headersDistinct: { 'content-type': [type] } }
  return multipartBody({ ...bodyOf(text), raw } as unknown as FastifyRequest) // it reads no more
}

/** Readers of texts of a client or a receiver, with beginnings of such texts. A refusal is a result too. */
const readers: Record<string, [read: Reader, ...beginnings: string[]]> = {
  'a form': [text => formOf(Buffer.from(text)), 'a='],
  'a form with files': [
    text => formWithFiles(text, 'multipart/form-data; boundary=x'),
    '--x\r\n',
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n',
  ],
  'the type of a form with files': [
    text => formWithFiles('--x--', text),
    'multipart/form-data; boundary=',
  ],
  'a query': [fastifyOptions.routerOptions.querystringParser, 'a='],
  cookies: [
    text => cookiesNamed(withHeader('cookie', text), 'farthing_console'),
    'farthing_console=',
  ],
  'a session': [readSeal, 'a.1.1.'],
  'a time of the API': [instant, '2026-01-01T10:00:00.'],
  'a time that a person typed': [text => spanIn(text, 0), '2026-01-01', '1/1/2026', '10:00'],
  'an amount that a person typed': [penceIn, '£1,000'],
  JSON: [text => jsonBody(bodyOf(text), 'P0197', ['amount']), '{"a":', '{"amount":1.0,', '{"a":"'],
  'the fields of a payment': [
    text =>
      Object.keys(payment).map(name => attempt(() => readNewPayment({ ...payment, [name]: text }))),
  ],
  'a key of a payment': [readIdempotencyKey],
  'the address of a receiver': [
    text => callbackUrlProblem(text, new Set()),
    'https://',
    'https://a.b/',
  ],
  'the address of a request': [
    text => [isBelow('/v1', text), hasEmptySegment(text), decodeAscii(text), pageOfAddress(text)],
    '/console/',
    'https://a/',
  ],
  'an address inside the console': [text => routedInConsole({ url: text } as never), '/console/a/'],
  'the header Accept': [
    text => [isLostInBrowser(withHeader('accept', text)), takesJson(text)],
    'text/html',
  ],
  'the header Accept-Encoding': [acceptsGzip, 'gzip'],
  'the header If-None-Match': [text => isOneOf(text, '"a"'), 'W/'],
  'a signature': [text => [rewritten(text), inHex(text)], 'sha256=', '"'],
  'a body whose signature is explained': [text => [isTooDeep(text), readJson(text)], '{"a":', '['],
  'an address in the record': [text => [mask.url(text), partsOf(text)], 'https://a.b/?token='],
  'the return_url of a payment': [returnAddress['govuk-pay'], `https://a.b/${'x'.repeat(8_000)}/`],
  'a body in the record': [text => mask.body(text), '{"token": ', '{"token": "', 'a&token='],
  'a text in the record': [mask.text, 'token=', '4000 0000'],
  'the response of a receiver': [
    text => causeOf({ status: 500, result: text, response_body: { text } } as never),
    'connection failed (',
  ],
}

async function attempt(read: () => unknown): Promise<void> {
  try {
    await read()
  } catch {
    // A refusal is as good as a result.
  }
}

const WORDS = [
  ...'a0f \t\n\0£…\ud800+%\\"&;,./?#:@-[<(',
  '\r\n',
  '%4',
  '%41',
  '%c3',
  '\\"',
  'a&',
  'a=b&',
  'a;',
  'a=b;',
  'farthing_console=a;',
  'a,',
  'text/html;q=1,',
  '1.',
  '//',
  '../',
  'b/../',
  '::',
  '--',
  '--x\r\n',
  '{"a":',
  '"a":1,',
  '"__proto__":',
  '"amount":1.0,',
  'token=a&',
]
const ENDS = ['', '!']
const LENGTH = 32 * 1024
/** Nothing below this processor time is judged, in milliseconds. The square of LENGTH takes some hundreds. */
const FLOOR = 40

async function processorTime(read: Reader, text: string): Promise<number> {
  const before = process.threadCpuUsage()
  await attempt(() => read(text))
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** The least of three measurements, in milliseconds. */
async function leastTime(read: Reader, text: string): Promise<number> {
  const times = [await processorTime(read, text), await processorTime(read, text)]
  return Math.min(...times, await processorTime(read, text))
}

for (const [name, [read, ...beginnings]] of Object.entries(readers))
  test(`${name} is read in time that grows with its length, not with its square`, async () => {
    for (const beginning of ['', ...beginnings])
      for (const word of WORDS)
        for (const end of ENDS) {
          const drawn = (length: number) => beginning + word.repeat(length / word.length) + end
          if ((await processorTime(read, drawn(LENGTH))) < FLOOR) continue
          const long = await leastTime(read, drawn(LENGTH))
          const growth = long / (await leastTime(read, drawn(LENGTH / 2)))
          const sentence = `${JSON.stringify(drawn(3 * word.length))}: ${long} ms`
          assert.ok(long < FLOOR || growth <= 3, `${sentence}, ${growth} times that of half of it`)
        }
  })
