import { EXPLAINED_DEPTH } from '../../../core/budgets.ts'
import { parsedJson } from '../../../core/values.ts'

/** JSON to be printed as libraries print it. Unlike JSON.parse it keeps the order of the keys and the digits. */
type JsonNode =
  /** The key of an item of an array is ''. */
  | { kind: 'object' | 'array'; entries: [key: string, value: JsonNode][] }
  | { kind: 'string'; value: string }
  /** A number, true, false or null, as it was written. */
  | { kind: 'literal'; text: string }

export type Style = {
  /** The text between entries, and between a key and its value, if there is no indent. */
  comma?: string
  colon?: string
  /** Spaces for each level. */
  indent?: number
  /** Prints a string with its quotes. Default: as JSON.stringify does. */
  string?: (value: string) => string
  sorted?: boolean
  /** How an empty object and an empty list are printed. */
  empty?: string
  emptyList?: string
  /** With an indent: whether empty objects and lists end on a line of their own. */
  opensEmpty?: boolean
}

const TOKEN = /[{}[\]:,]|"(?:[^"\\]|\\.)*"|[^\s{}[\]:,"]+/g

/** Returns undefined for text that is not JSON, or that is nested deeper than `EXPLAINED_DEPTH`. */
export function readJson(text: string): JsonNode | undefined {
  if (parsedJson(text) === undefined || isTooDeep(text)) return undefined
  const tokens = text.match(TOKEN) ?? []
  let at = 0
  const value = (): JsonNode => {
    const token = tokens[at++] ?? ''
    if (token.startsWith('"')) return { kind: 'string', value: JSON.parse(token) as string }
    if (token !== '{' && token !== '[') return { kind: 'literal', text: token }
    const kind = token === '{' ? 'object' : 'array'
    const entries: [string, JsonNode][] = []
    while (!/^[}\]]$/.test(tokens[at] ?? '')) {
      // JSON.parse has accepted the whole text.
      const key = kind === 'object' ? (JSON.parse(tokens[at] ?? '') as string) : ''
      if (kind === 'object') at += 2
      entries.push([key, value()])
      if (tokens[at] === ',') at += 1
    }
    at += 1
    return { kind, entries }
  }
  return value()
}

/** Whether a text is JSON that is nested deeper than `EXPLAINED_DEPTH`. */
export function isTooDeep(text: string): boolean {
  if (parsedJson(text) === undefined) return false
  let depth = 0
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '[' || token === '{') depth += 1
    else if (token === ']' || token === '}') depth -= 1
    if (depth > EXPLAINED_DEPTH) return true
  }
  return false
}

const byKey = ([one]: [string, unknown], [other]: [string, unknown]): number =>
  one < other ? -1 : Number(one > other)

/** Returns undefined if the text would have more than `most` characters, and stops printing there. */
export function printJson(root: JsonNode, style: Style, most = Infinity): string | undefined {
  const { string = JSON.stringify, sorted, indent, empty = '{}', emptyList = '[]' } = style
  const colon = style.colon ?? (indent === undefined ? ':' : ': ')
  const comma = indent === undefined ? (style.comma ?? ',') : ','
  let text = ''
  const line = (depth: number): string =>
    indent === undefined ? '' : `\n${' '.repeat(indent * depth)}`
  const print = (node: JsonNode, depth: number): void => {
    if (node.kind === 'string') text += string(node.value)
    else if (node.kind === 'literal') text += node.text
    else {
      const isObject = node.kind === 'object'
      const [start, end] = isObject ? '{}' : '[]'
      if (node.entries.length === 0) {
        const opened = `${start}${isObject ? '' : '\n'}${line(depth)}${end}`
        text += style.opensEmpty ? opened : isObject ? empty : emptyList
        return
      }
      text += start
      const entries = sorted ? node.entries.toSorted(byKey) : node.entries
      for (const [i, [key, value]] of entries.entries()) {
        if (text.length > most) return
        text += `${i > 0 ? comma : ''}${line(depth + 1)}${isObject ? string(key) + colon : ''}`
        print(value, depth + 1)
      }
      text += line(depth) + end
    }
  }
  print(root, 0)
  return text.length > most ? undefined : text
}

/** Prints strings with \uXXXX for each match of the pattern, which must match single UTF-16 units. */
export const escaping =
  (pattern: RegExp, inUpperCase = false) =>
  (value: string): string =>
    JSON.stringify(value).replace(pattern, unit => {
      const digits = unit.charCodeAt(0).toString(16).padStart(4, '0')
      return `\\u${inUpperCase ? digits.toUpperCase() : digits}`
    })
