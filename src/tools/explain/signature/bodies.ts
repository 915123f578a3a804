import { isAscii, isUtf8 } from 'node:buffer'
import { encoding, rawBody, readBefore } from './advice.ts'
import { escaping, type JsonNode, printJson, readJson, type Style } from './json-text.ts'
import { AS_IS, distinct, type Given, type Variant, withAdvice } from './variants.ts'

const NON_ASCII = /[\u0080-\uffff]/g
const ascii = escaping(/[\u007f-\uffff]/g)
const phpUnicode = escaping(NON_ASCII)
const slashes = (text: string): string => text.replaceAll('/', '\\/')
const forHtml = escaping(/[<>&\u2028\u2029]/g)
const gson = escaping(/[<>&='\u2028\u2029]/g)
const dotNet = (value: string): string =>
  escaping(/[<>&+'`\u007f-\uffff]/g, true)(value).replace(/(?<=.)\\"(?=.)/g, '\\u0022')

const python: Style = { comma: ', ', colon: ': ', string: ascii }
const php: Style = { string: value => slashes(phpUnicode(value)) }

/**
 * The ways in which common libraries print parsed JSON. Of those that print a body alike the first is named, so what
 * several languages do stands before what one of them does.
 */
const printers: [cause: string, name: string, style: Style][] = [
  ['printed-javascript', 'JSON.stringify() of JavaScript', {}],
  ['printed-sorted', 'a library that sorts the keys', { sorted: true }],
  ['printed-pretty-2', 'a library that indents by 2 spaces', { indent: 2 }],
  ['printed-pretty-4', 'a library that indents by 4 spaces', { indent: 4 }],
  [
    'printed-ascii',
    "a library that escapes what is not ASCII, such as json.dumps(separators=(',', ':')) of Python, or json_encode() of PHP with JSON_UNESCAPED_SLASHES",
    { string: ascii },
  ],
  [
    'printed-ascii-sorted',
    'a library that sorts the keys and escapes what is not ASCII',
    { string: ascii, sorted: true },
  ],
  [
    'printed-html',
    'a library that escapes <, > and &, such as to_json of Rails, json.Marshal() of a struct in Go, or Gson of Java',
    { string: forHtml },
  ],
  [
    'printed-ruby-pretty',
    'JSON.pretty_generate() of Ruby before json 2.10',
    { indent: 2, opensEmpty: true },
  ],
  ['printed-python', 'json.dumps() of Python', python],
  [
    'printed-python-unicode',
    'json.dumps(ensure_ascii=False) of Python',
    { comma: ', ', colon: ': ' },
  ],
  ['printed-python-sorted', 'json.dumps(sort_keys=True) of Python', { ...python, sorted: true }],
  ['printed-python-pretty-2', 'json.dumps(indent=2) of Python', { indent: 2, string: ascii }],
  ['printed-python-pretty-4', 'json.dumps(indent=4) of Python', { indent: 4, string: ascii }],
  ['printed-php', 'json_encode() of PHP', php],
  [
    'printed-php-unicode',
    'json_encode() of PHP with JSON_UNESCAPED_UNICODE',
    { string: value => slashes(JSON.stringify(value)) },
  ],
  ['printed-php-array', 'json_encode(json_decode($body, true)) of PHP', { ...php, empty: '[]' }],
  ['printed-php-pretty', 'json_encode() of PHP with JSON_PRETTY_PRINT', { ...php, indent: 4 }],
  ['printed-go', 'json.Marshal() of a map in Go', { string: forHtml, sorted: true }],
  [
    'printed-jackson-pretty',
    'Jackson of Java with indents',
    { indent: 2, colon: ' : ', empty: '{ }', emptyList: '[ ]' },
  ],
  ['printed-gson', 'Gson of Java', { string: gson }],
  ['printed-dotnet', 'System.Text.Json of .NET', { string: dotNet }],
]

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** True for a body as Farthing prints one: an object of JSON without white space. */
export function isPrinted(body: Buffer): boolean {
  const text = body.toString('utf8')
  const node = readJson(text)
  if (node?.kind !== 'object' || printJson(node, {}) !== text) return false
  return isAscii(body) || !isUtf8(Buffer.from(text, 'latin1')) // as it would be if UTF-8 was read as Latin-1
}

/** The body unchanged, and as common mistakes change it. If two are equal, the first. */
export function bodyVariants(body: Buffer): Variant<Buffer>[] {
  const text = body.toString('utf8')
  const latin1 = body.toString('latin1')
  return distinct([
    ...withAdvice(rawBody, [
      [AS_IS, 'as it is', body],
      ['no-newline', 'without the newline at its end', inBytes(latin1.replace(/\r?\n$/, ''))],
      ['newline', 'with a newline at its end', Buffer.concat([body, Buffer.from('\n')])],
      ['crlf-end', 'with CRLF at its end', Buffer.concat([body, Buffer.from('\r\n')])],
      ['space', 'with a space at its end', Buffer.concat([body, Buffer.from(' ')])],
      ['lf', 'with LF instead of CRLF', inBytes(latin1.replaceAll('\r\n', '\n'))],
      ['crlf', 'with CRLF instead of LF', inBytes(latin1.replace(/\r?\n/g, '\r\n'))],
    ]),
    ...withAdvice(encoding, [
      [
        'no-bom',
        'without the byte order mark',
        text.startsWith('\ufeff') ? body.subarray(3) : undefined,
      ],
      ['bom', 'with a byte order mark before it', Buffer.concat([BOM, body])],
    ]),
    ...withAdvice(rawBody, printed(text)),
    ...withAdvice(encoding, [
      ['latin-1', 'with its UTF-8 read as Latin-1', latin1],
      ['in-latin-1', 'encoded in Latin-1', inBytes(text)],
      ['in-ascii', 'encoded in ASCII', text.replace(/\P{ASCII}/gu, '?')],
      ['in-utf-16', 'encoded in UTF-16', Buffer.from(text, 'utf16le')],
    ]),
    ...withAdvice(rawBody, [
      ['percent-decoded', 'percent-decoded', percentDecoded(text)],
      ['form-decoded', 'decoded as a form', percentDecoded(text.replaceAll('+', ' '))],
      ['string', 'as a JSON string that holds the JSON', JSON.stringify(text)],
      ['object', 'replaced by [object Object], the text of a JavaScript object', '[object Object]'],
      ['python-bytes', "as Python prints bytes, b'...'", pythonBytes(body)],
    ]),
    ...withAdvice(readBefore, [
      ['empty', 'left empty, because its stream had been read before', ''],
    ]),
  ])
}

/** Each character as one byte. */
const inBytes = (text: string): Buffer => Buffer.from(text, 'latin1')

/** str() of bytes in Python. */
function pythonBytes(body: Buffer): string {
  const quote = body.includes("'") && !body.includes('"') ? '"' : "'"
  const escapes: Record<string, string> = {
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\\': '\\\\',
    "'": "\\'",
  }
  const text = body
    .toString('latin1')
    .replace(/[^ -~]|[\\']/g, unit =>
      unit === "'" && quote === '"'
        ? unit
        : (escapes[unit] ?? `\\x${inBytes(unit).toString('hex')}`),
    )
  return `b${quote}${text}${quote}`
}

function printed(text: string): Given[] {
  const node = readJson(text.replace(/^\ufeff/, ''))
  if (!node) return []
  // The value of a body that is a JSON string.
  if (node.kind === 'string') return [['unwrapped', 'taken out of its JSON string', node.value]]
  const resource = resourceOf(node)
  return [
    ...printers.map(
      ([cause, name, style]): Given => [
        cause,
        `parsed and printed again by ${name}`,
        printJson(node, style),
      ],
    ),
    ['resource', 'reduced to its resource', resource && printJson(resource, {})],
    [
      'resource-python',
      'reduced to its resource and printed by json.dumps() of Python',
      resource && printJson(resource, python),
    ],
  ]
}

function resourceOf(node: JsonNode): JsonNode | undefined {
  if (node.kind !== 'object') return undefined
  return node.entries.find(([key]) => key === 'resource')?.[1]
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
