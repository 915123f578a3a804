/**
 * JSON as a text: read so that it can be printed as the libraries of several languages print it. Unlike JSON.parse it
 * keeps the order of the keys and the digits of the numbers.
 */
export type JsonNode =
  | { kind: 'object'; entries: [key: string, value: JsonNode][] }
  | { kind: 'array'; items: JsonNode[] }
  | { kind: 'string'; value: string }
  /** A number, true, false or null, as it was written. */
  | { kind: 'literal'; text: string }

export type Style = {
  /** Between entries, and between a key and its value, where there is no indent. */
  comma?: string
  colon?: string
  /** Spaces for each level. */
  indent?: number
  /** Prints a string with its quotes. Without it as JSON.stringify does. */
  string?: (value: string) => string
  sorted?: boolean
  /** How an empty object and an empty list are printed. */
  empty?: string
  emptyList?: string
  /** With an indent: empty ones end on a line of their own. */
  opensEmpty?: boolean
}

const TOKEN = /[{}[\]:,]|"(?:[^"\\]|\\.)*"|[^\s{}[\]:,"]+/g

/** Returns undefined for text that is not JSON, or that is nested too deeply to be read. */
export function readJson(text: string): JsonNode | undefined {
  try {
    JSON.parse(text)
    const tokens = text.match(TOKEN) ?? []
    let at = 0
    const value = (): JsonNode => {
      const token = tokens[at++] ?? ''
      if (token === '{') return { kind: 'object', entries: list('}', entry) }
      if (token === '[') return { kind: 'array', items: list(']', value) }
      if (token.startsWith('"')) return { kind: 'string', value: JSON.parse(token) as string }
      return { kind: 'literal', text: token }
    }
    const entry = (): [string, JsonNode] => {
      const key = JSON.parse(tokens[at] ?? '') as string // JSON.parse has accepted the whole text
      at += 2
      return [key, value()]
    }
    const list = <Item>(end: string, read: () => Item): Item[] => {
      const items: Item[] = []
      while (tokens[at] !== end) {
        items.push(read())
        if (tokens[at] === ',') at += 1
      }
      at += 1
      return items
    }
    return value()
  } catch {
    return undefined
  }
}

const lineEnd = ({ indent = 0 }: Style, depth: number): string => `\n${' '.repeat(indent * depth)}`

export function printJson(node: JsonNode, style: Style, depth = 0): string {
  const { string = JSON.stringify, sorted, empty = '{}' } = style
  const inside = (items: string[], open: string, close: string): string => {
    if (style.indent === undefined) return open + items.join(style.comma ?? ',') + close
    const pad = ' '.repeat(style.indent)
    const line = `\n${pad.repeat(depth)}`
    return open + items.map(item => line + pad + item).join(',') + line + close
  }
  const colon = style.colon ?? (style.indent === undefined ? ':' : ': ')
  switch (node.kind) {
    case 'string':
      return string(node.value)
    case 'literal':
      return node.text
    case 'array':
      if (node.items.length === 0)
        return style.opensEmpty ? `[\n${lineEnd(style, depth)}]` : (style.emptyList ?? '[]')
      return inside(
        node.items.map(item => printJson(item, style, depth + 1)),
        '[',
        ']',
      )
    case 'object': {
      if (node.entries.length === 0) return style.opensEmpty ? `{${lineEnd(style, depth)}}` : empty
      const entries = sorted
        ? node.entries.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
        : node.entries
      const lines = entries.map(
        ([key, value]) => string(key) + colon + printJson(value, style, depth + 1),
      )
      return inside(lines, '{', '}')
    }
  }
}

const escapeUnit = (unit: string): string =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Returns a printer of strings that writes the matching characters as \uXXXX. The pattern must match single UTF-16
 * units.
 */
export const escaping =
  (pattern: RegExp, inUpperCase = false) =>
  (value: string): string =>
    JSON.stringify(value).replace(pattern, unit => {
      const escaped = escapeUnit(unit)
      return inUpperCase ? `\\u${escaped.slice(2).toUpperCase()}` : escaped
    })
