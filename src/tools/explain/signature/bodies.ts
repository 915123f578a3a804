import { isAscii, isUtf8 } from 'node:buffer'
import { unescape as decoded } from 'node:querystring'
import { BODY_BYTES, EXPLAINED_DEPTH, VARIANT_BYTES } from '../../../core/budgets.ts'
import { inDigits } from '../../../core/money.ts'
import { type Advice, AS_IS, encoding, rawBody, readBefore, type Variant } from './advice.ts'
import { escaping, isTooDeep, printJson, readJson, type Style } from './json-text.ts'

const ascii = escaping(/[\u007f-\uffff]/g)
const phpUnicode = escaping(/[\u0080-\uffff]/g)
const slashes = (text: string): string => text.replaceAll('/', '\\/')
const forHtml = escaping(/[<>&\u2028\u2029]/g)
const gson = escaping(/[<>&='\u2028\u2029]/g)
const dotNet = (value: string): string =>
  escaping(/[<>&+'`\u007f-\uffff]/g, true)(value).replace(/(?<=.)\\"(?=.)/g, '\\u0022')

const python: Style = { comma: ', ', colon: ': ', string: ascii }
const php: Style = { string: value => slashes(phpUnicode(value)) }

/** Common prints of JSON, the likeliest first. The first that fits is named: prints of several languages are early. */
const printers: [cause: string, name: string, style: Style][] = [
  ['printed-javascript', 'JSON.stringify() of JavaScript', {}],
  ['printed-pretty-2', 'a library that indents by 2 spaces', { indent: 2 }],
  ['printed-python', 'json.dumps() of Python', python],
  [
    'printed-ascii',
    "a library that escapes what is not ASCII, such as json.dumps(separators=(',', ':')) of Python, or json_encode() of PHP with JSON_UNESCAPED_SLASHES",
    { string: ascii },
  ],
  ['printed-php', 'json_encode() of PHP', php],
  [
    'printed-html',
    'a library that escapes <, > and &, such as to_json of Rails, json.Marshal() of a struct in Go, or Gson of Java',
    { string: forHtml },
  ],
  ['printed-php-array', 'json_encode(json_decode($body, true)) of PHP', { ...php, empty: '[]' }],
  [
    'printed-php-unicode',
    'json_encode() of PHP with JSON_UNESCAPED_UNICODE',
    { string: value => slashes(JSON.stringify(value)) },
  ],
  [
    'printed-python-unicode',
    'json.dumps(ensure_ascii=False) of Python',
    { comma: ', ', colon: ': ' },
  ],
  ['printed-sorted', 'a library that sorts the keys', { sorted: true }],
  ['printed-go', 'json.Marshal() of a map in Go', { string: forHtml, sorted: true }],
  ['printed-gson', 'Gson of Java', { string: gson }],
  ['printed-dotnet', 'System.Text.Json of .NET', { string: dotNet }],
  ['printed-pretty-4', 'a library that indents by 4 spaces', { indent: 4 }],
  [
    'printed-ascii-sorted',
    'a library that sorts the keys and escapes what is not ASCII',
    { string: ascii, sorted: true },
  ],
  ['printed-python-sorted', 'json.dumps(sort_keys=True) of Python', { ...python, sorted: true }],
  ['printed-python-pretty-2', 'json.dumps(indent=2) of Python', { indent: 2, string: ascii }],
  ['printed-python-pretty-4', 'json.dumps(indent=4) of Python', { indent: 4, string: ascii }],
  ['printed-php-pretty', 'json_encode() of PHP with JSON_PRETTY_PRINT', { ...php, indent: 4 }],
  [
    'printed-ruby-pretty',
    'JSON.pretty_generate() of Ruby before json 2.10',
    { indent: 2, opensEmpty: true },
  ],
  [
    'printed-jackson-pretty',
    'Jackson of Java with indents',
    { indent: 2, colon: ' : ', empty: '{ }', emptyList: '[ ]' },
  ],
]

/** True for a body as Farthing prints one: an object of JSON without white space. */
export function isPrinted(body: Buffer): boolean {
  const text = body.toString('utf8')
  const node = readJson(text)
  if (node?.kind !== 'object' || printJson(node, {}) !== text) return false
  return isAscii(body) || !isUtf8(Buffer.from(text, 'latin1')) // as it would be if UTF-8 was read as Latin-1
}

/** The reason why the signature of this body is not explained, as a sentence; undefined if it is. */
export function bodyProblem(body: Buffer | undefined): string | undefined {
  if (!body) return undefined
  if (body.length > BODY_BYTES)
    return `The body has ${inDigits(body.length)} bytes: at most ${inDigits(BODY_BYTES)} are compared, as a body of the API has no more`
  return isTooDeep(body.toString('utf8'))
    ? `The body is nested deeper than ${EXPLAINED_DEPTH} levels: it is no message of Farthing`
    : undefined
}

/** `change` returns undefined if the result would have more characters than `most`. Default advice: rawBody. */
type Row = [
  cause: string,
  words: string,
  change: (most: number) => Buffer | string | undefined,
  advice?: Advice,
]

/** One variant has at most an eighth of all bytes, so that it takes only a part of a slice. */
const LARGEST_SHARE = 8

/** The body as it is and as common mistakes change it, the likeliest first, made on demand: VARIANT_BYTES in all. */
export function* bodyVariants(body: Buffer): Generator<Variant> {
  yield { cause: AS_IS, words: 'as it is', advice: rawBody, value: body }
  if (bodyProblem(body) !== undefined) return
  let left = VARIANT_BYTES
  for (const [cause, words, change, advice = rawBody] of changesOf(body)) {
    const most = Math.min(left, VARIANT_BYTES / LARGEST_SHARE)
    const changed = change(most)
    const value = changed === undefined ? undefined : Buffer.from(changed)
    const fits = value !== undefined && value.length <= most
    if (fits) left -= value.length
    yield { cause, words, advice, value: fits ? value : undefined }
  }
}

function* changesOf(body: Buffer): Generator<Row> {
  const text = body.toString('utf8')
  const latin1 = body.toString('latin1')
  yield ['empty', 'left empty, because its stream had been read before', () => '', readBefore]
  yield ['latin-1', 'with its UTF-8 read as Latin-1', () => latin1, encoding]
  yield ['in-latin-1', 'encoded in Latin-1', () => inBytes(text), encoding]
  yield [
    'object',
    'replaced by [object Object], the text of a JavaScript object',
    () => '[object Object]',
  ]
  yield ['newline', 'with a newline at its end', () => inBytes(`${latin1}\n`)]
  yield ['string', 'as a JSON string that holds the JSON', () => JSON.stringify(text)]
  yield ['python-bytes', "as Python prints bytes, b'...'", () => pythonBytes(body)]
  // Before the printers, which print a body with other line ends, or without its first or last character, like this one.
  yield [
    'no-newline',
    'without the newline at its end',
    () => inBytes(latin1.replace(/\r?\n$/, '')),
  ]
  yield ['lf', 'with LF instead of CRLF', () => inBytes(latin1.replaceAll('\r\n', '\n'))]
  yield ['crlf', 'with CRLF instead of LF', () => inBytes(latin1.replace(/\r?\n/g, '\r\n'))]
  yield ['no-bom', 'without the byte order mark', () => text.replace(/^\ufeff/, ''), encoding]
  yield* reprints(text)
  yield ['crlf-end', 'with CRLF at its end', () => inBytes(`${latin1}\r\n`)]
  yield ['space', 'with a space at its end', () => inBytes(`${latin1} `)]
  yield ['bom', 'with a byte order mark before it', () => `\ufeff${text}`, encoding]
  yield ['in-ascii', 'encoded in ASCII', () => text.replace(/\P{ASCII}/gu, '?'), encoding]
  yield ['in-utf-16', 'encoded in UTF-16', () => Buffer.from(text, 'utf16le'), encoding]
  yield ['percent-decoded', 'percent-decoded', () => decoded(text)]
  yield ['form-decoded', 'decoded as a form', () => decoded(text.replaceAll('+', ' '))]
}

/** Each character as one byte. */
const inBytes = (text: string): Buffer => Buffer.from(text, 'latin1')

/** str() of bytes in Python. */
function pythonBytes(body: Buffer): string {
  const quote = body.includes("'") && !body.includes('"') ? '"' : "'"
  const text = body
    .toString('latin1')
    .replace(/[\\\n\r\t]/g, unit => JSON.stringify(unit).slice(1, -1))
    .replace(/[^ -~]/g, unit => `\\x${inBytes(unit).toString('hex')}`)
  return `b${quote}${text.replaceAll(quote, `\\${quote}`)}${quote}`
}

function* reprints(text: string): Generator<Row> {
  const node = readJson(text.replace(/^\ufeff/, ''))
  if (!node) return
  if (node.kind === 'string') {
    // The value of a body that is a JSON string.
    yield ['unwrapped', 'taken out of its JSON string', () => node.value]
    return
  }
  const entries = node.kind === 'object' ? node.entries : []
  const [, resource] = entries.find(([key]) => key === 'resource') ?? []
  if (resource) {
    yield ['resource', 'reduced to its resource', most => printJson(resource, {}, most)]
    const words = 'reduced to its resource and printed by json.dumps() of Python'
    yield ['resource-python', words, most => printJson(resource, python, most)]
  }
  for (const [cause, name, style] of printers) {
    const words = `parsed and printed again by ${name}`
    yield [cause, words, most => printJson(node, style, most)]
  }
}
