/** JSON as libraries of six languages print it: the printers of src/tools/explain/signature are tested with it. */

export type Language = 'JavaScript' | 'Python' | 'Ruby' | 'PHP' | 'Java' | 'Go'

/** Code of a language, what it makes, the cause that must be named, and its words. */
export type Row<Value> = [
  language: Language,
  code: string,
  value: Value,
  cause: string,
  words: string,
]

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
  [
    'JavaScript',
    'JSON.stringify(req.body, null, 2)',
    { indent: 2 },
    'pretty-2',
    'a library that indents by 2 spaces',
  ],
  [
    'Python',
    'json.dumps(request.json)',
    { ...python, string: ascii },
    'python',
    'json.dumps() of Python',
  ],
  [
    'Python',
    'json.dumps(indent=4)',
    { indent: 4, string: ascii },
    'python-pretty-4',
    'json.dumps(indent=4) of Python',
  ],
  [
    'Python',
    'json.dumps(ensure_ascii=False)',
    python,
    'python-unicode',
    'json.dumps(ensure_ascii=False) of Python',
  ],
  [
    'Python',
    'json.dumps(sort_keys=True)',
    { ...python, string: ascii, sorted: true },
    'python-sorted',
    'json.dumps(sort_keys=True) of Python',
  ],
  [
    'Python',
    "json.dumps(separators=(',', ':'))",
    { string: ascii },
    'ascii',
    "a library that escapes what is not ASCII, such as json.dumps(separators=(',', ':')) of Python, or json_encode() of PHP with JSON_UNESCAPED_SLASHES",
  ],
  [
    'Ruby',
    'JSON.pretty_generate(params)',
    { indent: 2 },
    'pretty-2',
    'a library that indents by 2 spaces',
  ],
  [
    'Ruby',
    'params.to_json in Rails',
    { string: html },
    'html',
    'a library that escapes <, > and &, such as to_json of Rails, json.Marshal() of a struct in Go, or Gson of Java',
  ],
  [
    'Ruby',
    'JSON.generate(params.sort.to_h), deep',
    { sorted: true },
    'sorted',
    'a library that sorts the keys',
  ],
  [
    'PHP',
    'json_encode(json_decode($body))',
    { string: slashed(ascii) },
    'php',
    'json_encode() of PHP',
  ],
  [
    'PHP',
    'json_encode(json_decode($body, true))',
    { string: slashed(ascii), empty: '[]' },
    'php-array',
    'json_encode(json_decode($body, true)) of PHP',
  ],
  [
    'PHP',
    'JSON_UNESCAPED_UNICODE',
    { string: slashed(JSON.stringify) },
    'php-unicode',
    'json_encode() of PHP with JSON_UNESCAPED_UNICODE',
  ],
  [
    'PHP',
    'JSON_PRETTY_PRINT',
    { indent: 4, string: slashed(ascii) },
    'php-pretty',
    'json_encode() of PHP with JSON_PRETTY_PRINT',
  ],
  [
    'Java',
    'new Gson().toJson(body)',
    { string: escaping(/[<>&='\u2028\u2029]/g) },
    'gson',
    'Gson of Java',
  ],
  [
    'Java',
    'writerWithDefaultPrettyPrinter()',
    { indent: 2, colon: ' : ', empty: '{ }' },
    'jackson-pretty',
    'Jackson of Java with indents',
  ],
  [
    'Go',
    'json.Marshal(map)',
    { string: html, sorted: true },
    'go',
    'json.Marshal() of a map in Go',
  ],
]

/** For a body without double quotes that Python would escape: it has both kinds of quotes. */
export const pythonBytes = (body: string): string =>
  `b'${Buffer.from(body)
    .toString('latin1')
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replace(/[\u0080-\u00ff]/g, unit => `\\x${unit.charCodeAt(0).toString(16)}`)}'`
