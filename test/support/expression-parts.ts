/** The parts of a regular expression. */
import type { Expression } from './expressions.ts'

export type Test = (character: string) => boolean

export type Node =
  | { is: 'character'; test: Test }
  | { is: 'sequence'; parts: Node[] }
  | { is: 'choice'; parts: Node[] }
  | { is: 'repeat'; part: Node; least: number; most: number; lazy: boolean }
  | { is: 'group'; part: Node; index: number }
  | { is: 'look'; part: Node; behind: boolean; negative: boolean }
  | { is: 'edge'; kind: '^' | '$' | '\\b' | '\\B' }
  | { is: 'again'; name: string }

export type Parsed = ReturnType<typeof parse>

export function parse({ source, flags }: Expression) {
  const plainFlags = flags.replace(/[gy]/g, '')
  const tests = new Map<string, Test>()
  const names = new Map<string, number>()
  let groups = 0
  let at = 0

  /** The engine itself says which characters a class or an escape takes. */
  function testOf(piece: string): Test {
    const expression = new RegExp(`^(?:${piece})$`, plainFlags)
    const known = new Map<string, boolean>()
    const test =
      tests.get(piece) ??
      (character => {
        const before = known.get(character)
        if (before !== undefined) return before
        const takes = expression.test(character)
        known.set(character, takes)
        return takes
      })
    tests.set(piece, test)
    return test
  }

  /** Moves on if the pattern is next, and returns what it matched. */
  function take(pattern: RegExp): RegExpExecArray | null {
    const sticky = new RegExp(pattern, 'ys')
    sticky.lastIndex = at
    const match = sticky.exec(source)
    if (match) at = sticky.lastIndex
    return match
  }

  function choice(): Node {
    const parts = [sequence()]
    while (take(/\|/)) parts.push(sequence())
    return parts.length === 1 ? (parts[0] as Node) : { is: 'choice', parts } // there is one
  }

  function sequence(): Node {
    const parts: Node[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')')
      parts.push(repeated(atom()))
    return { is: 'sequence', parts }
  }

  function repeated(part: Node): Node {
    const found = take(/(?:([*+?])|\{(\d+)(?:(,)(\d+)?)?\})(\?)?/)
    if (!found) return part
    const [, sign, from, comma, to, lazy] = found
    const least = sign ? Number(sign === '+') : Number(from)
    const bounded = sign === '?' ? 1 : sign ? Infinity : Number(to ?? (comma ? Infinity : from))
    return { is: 'repeat', part, least, most: bounded, lazy: lazy !== undefined }
  }

  function atom(): Node {
    const look = take(/\(\?(<?)([=!])/)
    if (look)
      return { is: 'look', part: inner(), behind: look[1] === '<', negative: look[2] === '!' }
    if (take(/\(\?:/)) return inner()
    const group = take(/\((?:\?<(\w+)>)?/)
    if (group) {
      groups += 1
      const index = groups
      if (group[1]) names.set(group[1], index)
      return { is: 'group', part: inner(), index }
    }
    const edge = take(/[$^]|\\[bB]/)
    if (edge) return { is: 'edge', kind: edge[0] as '^' } // or another of them
    const again = take(/\\(?:([1-9])|k<(\w+)>)/)
    if (again) return { is: 'again', name: again[1] ?? again[2] ?? '' }
    const piece = take(
      /\[(?:[^\]\\]|\\.)*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|.)|[^()]/,
    )
    if (!piece) throw new Error(`${source} cannot be read at ${at}`)
    return { is: 'character', test: testOf(piece[0]) }
  }

  function inner(): Node {
    const part = choice()
    if (!take(/\)/)) throw new Error(`${source} has no ) at ${at}`)
    return part
  }

  const root = choice()
  if (at < source.length) throw new Error(`${source} cannot be read at ${at}`)
  return { root, flags, tests, groupOf: (name: string) => names.get(name) ?? Number(name) }
}
