/** Parses a regular expression, as far as needed to make texts that it matches. */
import type { Expression } from './expressions.ts'

export type Test = (character: string) => boolean

/** An edge such as `^` is an empty sequence. */
export type Node =
  | { is: 'character'; test: Test }
  | { is: 'sequence' | 'choice'; parts: Node[] }
  | { is: 'repeat'; part: Node; least: number; most: number }
  | { is: 'group'; part: Node; name: string }
  | { is: 'look'; part: Node }
  | { is: 'again'; name: string }

export function parse({ source, flags }: Expression) {
  const tests = new Map<string, Test>()
  let groups = 0
  let at = 0

  /** Asks the engine itself which characters a class or an escape matches. */
  function testOf(piece: string): Test {
    const expression = new RegExp(`^(?:${piece})$`, flags.replace(/[gy]/g, ''))
    const test = tests.get(piece) ?? (character => expression.test(character))
    tests.set(piece, test)
    return test
  }

  /** Moves on if the pattern is next, and returns the match. */
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
    return { is: 'choice', parts }
  }

  function sequence(): Node {
    const parts: Node[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')')
      parts.push(repeated(atom()))
    return { is: 'sequence', parts }
  }

  function repeated(part: Node): Node {
    const found = take(/(?:([*+?])|\{(\d+)(?:(,)(\d+)?)?\})\??/)
    if (!found) return part
    const [, sign, from, comma, to] = found
    const least = sign ? Number(sign === '+') : Number(from)
    const most = sign === '?' ? 1 : sign ? Infinity : Number(to ?? (comma ? Infinity : from))
    return { is: 'repeat', part, least, most }
  }

  function atom(): Node {
    if (take(/\(\?<?[=!]/)) return { is: 'look', part: inner() }
    if (take(/\(\?:/)) return inner()
    const group = take(/\((?:\?<(\w+)>)?/)
    if (group) {
      groups += 1
      const name = group[1] ?? String(groups)
      return { is: 'group', part: inner(), name }
    }
    if (take(/[$^]|\\[bB]/)) return { is: 'sequence', parts: [] }
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
  return { root, tests: [...tests.values()] }
}
