import { escaping, type JsonNode, printJson, readJson, type Style } from './json-text.ts'
import { distinct, type Given, type Variant } from './variants.ts'

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

/** The ways in which common libraries print parsed JSON. */
const printers: [cause: string, name: string, style: Style][] = [
  ['printed-javascript', 'JSON.stringify() of JavaScript', {}],
  ['printed-python', 'json.dumps() of Python', python],
  [
    'printed-python-unicode',
    'json.dumps(ensure_ascii=False) of Python',
    { comma: ', ', colon: ': ' },
  ],
  ['printed-python-compact', "json.dumps(separators=(',', ':')) of Python", { string: ascii }],
  ['printed-python-sorted', 'json.dumps(sort_keys=True) of Python', { ...python, sorted: true }],
  ['printed-php', 'json_encode() of PHP', php],
  ['printed-php-array', 'json_encode(json_decode($body, true)) of PHP', { ...php, empty: '[]' }],
  [
    'printed-php-unicode',
    'json_encode() of PHP with JSON_UNESCAPED_UNICODE',
    { string: value => slashes(JSON.stringify(value)) },
  ],
  [
    'printed-php-slashes',
    'json_encode() of PHP with JSON_UNESCAPED_SLASHES',
    { string: phpUnicode },
  ],
  ['printed-rails', 'to_json of Rails', { string: forHtml }],
  ['printed-go', 'json.Marshal() of a map in Go', { string: forHtml, sorted: true }],
  ['printed-gson', 'Gson of Java', { string: gson }],
  ['printed-dotnet', 'System.Text.Json of .NET', { string: dotNet }],
  ['printed-sorted', 'a library that sorts the keys', { sorted: true }],
  ['printed-pretty-2', 'a library that indents by 2 spaces', { indent: 2 }],
  ['printed-pretty-4', 'a library that indents by 4 spaces', { indent: 4 }],
  ['printed-python-pretty-2', 'json.dumps(indent=2) of Python', { indent: 2, string: ascii }],
  ['printed-python-pretty-4', 'json.dumps(indent=4) of Python', { indent: 4, string: ascii }],
  ['printed-php-pretty', 'json_encode() of PHP with JSON_PRETTY_PRINT', { ...php, indent: 4 }],
]

const BOM = Buffer.from([0xef, 0xbb, 0xbf])
const NEWLINE = Buffer.from('\n')

/** The body unchanged, and as common mistakes change it. If two are equal, the first. */
export function bodyVariants(body: Buffer): Variant<Buffer>[] {
  const text = body.toString('utf8')
  const latin1 = body.toString('latin1')
  return distinct([
    ['as-is', 'as it is', body],
    [
      'no-newline',
      'without the newline at its end',
      Buffer.from(latin1.replace(/\r?\n$/, ''), 'latin1'),
    ],
    ['newline', 'with a newline at its end', Buffer.concat([body, NEWLINE])],
    ['lf', 'with LF instead of CRLF', Buffer.from(latin1.replaceAll('\r\n', '\n'), 'latin1')],
    ['crlf', 'with CRLF instead of LF', Buffer.from(latin1.replace(/\r?\n/g, '\r\n'), 'latin1')],
    [
      'no-bom',
      'without the byte order mark',
      text.startsWith('\ufeff') ? body.subarray(3) : undefined,
    ],
    ['bom', 'with a byte order mark before it', Buffer.concat([BOM, body])],
    ...printed(text),
    ['latin-1', 'with its UTF-8 read as Latin-1', Buffer.from(latin1, 'utf8')],
    ['in-latin-1', 'encoded in Latin-1', Buffer.from(text, 'latin1')],
    ['in-ascii', 'encoded in ASCII', text.replace(/\P{ASCII}/gu, '?')],
    ['in-utf-16', 'encoded in UTF-16', Buffer.from(text, 'utf16le')],
    ['percent-decoded', 'percent-decoded', percentDecoded(text)],
    ['form-decoded', 'decoded as a form', percentDecoded(text.replaceAll('+', ' '))],
    ['string', 'as a JSON string that holds the JSON', JSON.stringify(text)],
    ['empty', 'when it was empty, because its stream had been read before', ''],
  ])
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
