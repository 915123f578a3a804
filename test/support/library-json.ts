/** JSON as libraries of six languages print it: the printers of src/tools/explain/signature are tested with it. */

/** The cause that must be named, its words, and what the code makes. */
export type Row<Value> = [cause: string, words: string, value: Value]

type Style = {
  comma?: string
  colon?: string
  indent?: number
  sorted?: boolean
  empty?: string
  string?: (text: string) => string
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

export function print(value: Json, style: Style, depth = 0): string {
  const { indent, sorted, string = JSON.stringify, empty = '{}' } = style
  const { comma = ',', colon = indent === undefined ? ':' : ': ' } = style
  if (typeof value === 'string') return string(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const names = Object.keys(value)
  if (sorted) names.sort()
  const items = Array.isArray(value)
    ? value.map(item => print(item, style, depth + 1))
    : names.map(name => string(name) + colon + print(value[name] ?? null, style, depth + 1))
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (items.length === 0) return Array.isArray(value) ? '[]' : empty
  if (indent === undefined) return open + items.join(comma) + close
  const line = (level: number) => `\n${' '.repeat(indent * level)}`
  return open + items.map(item => line(depth + 1) + item).join(',') + line(depth) + close
}

const escaping = (pattern: RegExp) => (text: string) =>
  JSON.stringify(text).replace(
    pattern,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
const ascii = escaping(/[\u007f-\uffff]/g)
const html = escaping(/[<>&]/g)
const slashed = (string: (text: string) => string) => (text: string) =>
  string(text).replaceAll('/', '\\/')

const python = { comma: ', ', colon: ': ' }

/** Of bodies that were parsed and printed again. The words name the library. */
export const libraries: Row<Style>[] = [
  ['pretty-2', 'a library that indents by 2 spaces', { indent: 2 }],
  ['python', 'json.dumps() of Python', { ...python, string: ascii }],
  ['python-pretty-4', 'json.dumps(indent=4) of Python', { indent: 4, string: ascii }],
  ['python-unicode', 'json.dumps(ensure_ascii=False) of Python', python],
  [
    'python-sorted',
    'json.dumps(sort_keys=True) of Python',
    { ...python, string: ascii, sorted: true },
  ],
  [
    'ascii',
    "a library that escapes what is not ASCII, such as json.dumps(separators=(',', ':')) of Python, or json_encode() of PHP with JSON_UNESCAPED_SLASHES",
    { string: ascii },
  ],
  [
    'html',
    'a library that escapes <, > and &, such as to_json of Rails, json.Marshal() of a struct in Go, or Gson of Java',
    { string: html },
  ],
  ['sorted', 'a library that sorts the keys', { sorted: true }],
  ['php', 'json_encode() of PHP', { string: slashed(ascii) }],
  [
    'php-array',
    'json_encode(json_decode($body, true)) of PHP',
    { string: slashed(ascii), empty: '[]' },
  ],
  [
    'php-unicode',
    'json_encode() of PHP with JSON_UNESCAPED_UNICODE',
    { string: slashed(JSON.stringify) },
  ],
  [
    'php-pretty',
    'json_encode() of PHP with JSON_PRETTY_PRINT',
    { indent: 4, string: slashed(ascii) },
  ],
  ['gson', 'Gson of Java', { string: escaping(/[<>&='\u2028\u2029]/g) }],
  ['jackson-pretty', 'Jackson of Java with indents', { indent: 2, colon: ' : ', empty: '{ }' }],
  ['go', 'json.Marshal() of a map in Go', { string: html, sorted: true }],
]

/** For a body without double quotes that Python would escape: it has both kinds of quotes. */
export const pythonBytes = (body: string): string =>
  `b'${Buffer.from(body)
    .toString('latin1')
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replace(/[\u0080-\u00ff]/g, unit => `\\x${unit.charCodeAt(0).toString(16)}`)}'`
