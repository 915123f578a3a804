/** Texts, JSON and forms that an attacker or a faulty client might send. */
import { codePoint, fc, weighted } from '../support/properties.ts'

/** Lengths around the limits of fields, and far beyond. */
const lengths = [25, 26, 27, 30, 31, 52, 100, 101, 254, 255, 256, 2000, 2001, 2048, 2049, 9_000]

/** HTML, scripts and characters that turn text around. */
export const HOSTILE = [
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '</pre></textarea></title><svg onload=alert(1)>',
  '\u202egnp.exe\u2066',
  '{{7*7}} <!--',
  'javascript:alert(1)',
  '&lt;b&gt; &#0; &quot;',
]

const texts = [
  ...HOSTILE,
  ...' \0\ud800\ufeff\ufffe💷\u2028ßŉ\\*?1',
  '',
  '\t\n',
  'a\0b',
  'x\udfffy',
  '\udfff\ud800',
  'ﷺ'.repeat(20),
  "' or '1'='1",
  '"; drop table x; --',
  '\r\nX-Injected: 1',
  ...'Z̷̢͍a̸l̶g̵o̷ İIıi \u0345Σς __proto__ constructor toString hasOwnProperty'.split(' '),
  ...'$1 $(id) %s%n ../../etc/passwd /v1/payments %00 %2e%2e null undefined NaN'.split(' '),
  ...'1e400 -0 0x10 true [] {} 10 500 501 https:// https://[::1]/ https://a@b/'.split(' '),
  ...'//evil.example 2026-09-14T08:20:31Z 2026-02-30 0000-01-01T00:00Z'.split(' '),
  '+275760-09-13T00:00:00.000Z',
]

const long = fc
  .tuple(fc.constantFrom('x', 'é', '💷', ' ', '<'), fc.constantFrom(...lengths))
  .map(([unit, length]) => unit.repeat(length).slice(0, length))

export const nastyText = weighted(
  [6, fc.constantFrom(...texts)],
  [2, fc.string({ unit: codePoint, maxLength: 30 })],
  [1, fc.string({ unit: 'grapheme', maxLength: 30 })],
  [2, long],
)

const deep = (open: string, close: string, depth: number) =>
  `${open.repeat(depth)}1${close.repeat(depth)}`

/** JSON and texts that are almost JSON. */
const jsonTexts = [
  ...'null true false 0 -0 1 1.0 1e2 -1 100 0.1 1e-400 10000000 10000001'.split(' '),
  ...'9007199254740993 1e400 -1e400 [] {} [[]] [null] "" [1,"a",{}] {"a":1,"a":2}'.split(' '),
  ...'{"":{"":{}}} {"__proto__":{"x":1}} {"\\u005f_proto__":{"x":1}}'.split(' '),
  ...'{"constructor":{"prototype":{}}} NaN Infinity 01 +1 .5 1. undefined True'.split(' '),
  ...`'x' "\\x" "\\u12" "\u0001" "\n" [1,] {"a":} /**/1 "unfinished [1 {"a"`.split(' '),
  '',
  `1${'0'.repeat(400)}`,
  deep('[', ']', 30_000),
  deep('{"a":', '}', 9_000),
  deep('[', '', 60_000),
]

export const nastyJson = weighted(
  [3, nastyText.map(text => JSON.stringify(text))],
  [3, fc.constantFrom(...jsonTexts)],
  [1, fc.json({ maxDepth: 3 })],
)

export const nastyKey: fc.Arbitrary<string> = fc.oneof(
  nastyText.map(text => JSON.stringify(text)),
  fc.constantFrom('"__proto__"', '"\\u005f_proto__"', '"constructor"', '"toString"', '""', 'bare'),
)

/** Percent-encoded UTF-8, also for lone surrogates, which encodeURIComponent refuses. */
export function percentEncoded(text: string): string {
  return Array.from(text, character => {
    const code = character.codePointAt(0) ?? 0
    if (/[A-Za-z0-9._~-]/.test(character)) return character
    if (code < 0xd800 || code > 0xdfff) return encodeURIComponent(character)
    const bytes = [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)]
    return bytes.map(byte => `%${byte.toString(16)}`).join('')
  }).join('')
}

const encodedText = weighted(
  [5, nastyText.map(percentEncoded)],
  [1, fc.constantFrom('%', '%zz', '%ff', '%c0%80', '%ed%a0%80', '+', '%00', '%u0041')],
)

/** Pairs of a query or a form; the service knows `names`. */
export const nastyPairs = (names: string[], valid: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .array(
      fc.tuple(
        weighted([6, fc.constantFrom(...names, 'page')], [1, encodedText]),
        fc.constantFrom('=', '=', '=', '=', '', '[]=', '=='),
        weighted([2, valid], [3, encodedText]),
      ),
      { maxLength: 6 },
    )
    .map(pairs => pairs.map(pair => pair.join('')).join('&'))

/** Damage that a body may suffer in transit. */
export const damaged = (body: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(body, fc.nat(40), fc.nat())
    .map(([bytes, damage, place]) => damageBytes(bytes, damage, place % (bytes.length + 1)))

function damageBytes(bytes: Buffer, damage: number, at: number): Buffer {
  const insert =
    (...middle: number[]) =>
    () =>
      Buffer.concat([bytes.subarray(0, at), Buffer.from(middle), bytes.subarray(at)])
  const variants = [
    () => bytes.subarray(0, at),
    insert(0xff),
    insert(0xc0, 0x80),
    insert(0xed, 0xa0, 0x80),
    insert(0),
    () => Buffer.concat([Buffer.from('\ufeff'), bytes]),
    () => Buffer.from(bytes.toString('utf8'), 'utf16le'),
    () => Buffer.concat([bytes, bytes]),
    () => Buffer.concat([bytes, Buffer.alloc(66_000, ' ')]),
    () => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), // gzip
    () => Buffer.alloc(0),
  ]
  return variants[damage]?.() ?? bytes
}
