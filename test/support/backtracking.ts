/**
 * Matches regular expressions as V8 does, by backtracking, and counts its steps: how their number grows is how the time
 * grows, on any machine. Lookbehinds have a fixed length. Of the libraries scslre 0.3 misses loops of several characters,
 * such as `"state":\{([^}]*)\}`; recheck 4.5 takes 90 s for these expressions, and looks at the first match only.
 */
import type { Node, Parsed } from './expression-parts.ts'

/** Where a match ends, or undefined. */
type End = number | undefined
/** Tries a part from a place on, and at each of its ends what comes after it, until that matches. */
type Matcher = (at: number, next: Next) => End
type Next = (at: number) => End

/** All matches with the flag g, as far as replaceAll looks, otherwise the first. Counts at most `most` steps. */
export function match({ root, flags, groupOf }: Parsed, text: string, most: number) {
  let counted = 0
  const groups = new Map<number, string>()
  const isWord = (i: number) => /\w/.test(text[i] ?? '')
  const isEnd = (i: number, end: number) =>
    i === end || (flags.includes('m') && /[\n\r\u2028\u2029]/.test(text[end ? i : i - 1] ?? ''))
  const folded = (part: string) => (flags.includes('i') ? part.toLowerCase() : part)

  const edges = {
    '^': (at: number) => isEnd(at, 0),
    $: (at: number) => isEnd(at, text.length),
    '\\b': (at: number) => isWord(at - 1) !== isWord(at),
    '\\B': (at: number) => isWord(at - 1) === isWord(at),
  }

  const stepped =
    (matcher: Matcher): Matcher =>
    (at, next) =>
      ++counted > most ? undefined : matcher(at, next)

  function matcherOf(node: Node): Matcher {
    if (node.is === 'character')
      return stepped((at, next) =>
        at < text.length && node.test(text[at] ?? '') ? next(at + 1) : undefined,
      )
    if (node.is === 'sequence')
      return node.parts.map(matcherOf).reduceRight<Matcher>(
        (rest, part) => (at, next) => part(at, end => rest(end, next)),
        (at, next) => next(at),
      )
    if (node.is === 'edge')
      return stepped((at, next) => (edges[node.kind](at) ? next(at) : undefined))
    if (node.is === 'again')
      return stepped((at, next) => {
        const before = groups.get(groupOf(node.name)) ?? ''
        const here = text.slice(at, at + before.length)
        return folded(here) === folded(before) ? next(at + before.length) : undefined
      })
    if (node.is === 'choice') {
      const parts = node.parts.map(matcherOf)
      return stepped((at, next) => {
        for (const part of parts) {
          const end = part(at, next)
          if (end !== undefined) return end
        }
        return undefined
      })
    }
    if (node.is === 'repeat') return repeated(node)
    const part = matcherOf(node.part)
    if (node.is === 'look') {
      const length = node.behind ? lengthOf(node.part) : 0
      return stepped((at, next) => {
        const isThere = at >= length && part(at - length, end => end) !== undefined
        return isThere !== node.negative ? next(at) : undefined
      })
    }
    return (at, next) =>
      part(at, end => {
        const before = groups.get(node.index)
        groups.set(node.index, text.slice(at, end))
        const found = next(end)
        if (found === undefined) groups.set(node.index, before ?? '')
        return found
      })
  }

  /** A turn that takes nothing does not count. Turns of one character, of which there are hundreds, make no recursion. */
  function repeated({ part: node, least, most: bound, lazy }: Node & { is: 'repeat' }): Matcher {
    const part = matcherOf(node)
    const from = (at: number, turns: number, next: Next): End => {
      const again = () =>
        turns < bound
          ? part(at, end => (turns >= least && end === at ? undefined : from(end, turns + 1, next)))
          : undefined
      const on = () => (turns >= least ? next(at) : undefined)
      return lazy ? (on() ?? again()) : (again() ?? on())
    }
    if (node.is !== 'character' || lazy) return (at, next) => from(at, 0, next)
    return (at, next) => {
      let turns = 0
      while (turns < bound && part(at + turns, end => end) !== undefined) turns++
      for (; turns >= least; turns--) {
        const end = next(at + turns)
        if (end !== undefined) return end
      }
      return undefined
    }
  }

  const matcher = matcherOf(root)
  const found: string[] = []
  for (let begin = 0; begin <= text.length && counted <= most; begin++) {
    groups.clear()
    const end = matcher(begin, at => at)
    if (end === undefined || counted > most) continue
    found.push(`${begin}-${end}`)
    if (!flags.includes('g')) break
    if (end > begin) begin = end - 1
  }
  return { found, counted }
}

/** Of a part whose length is fixed. A wrong one would find other matches than the engine. */
function lengthOf(node: Node): number {
  if (node.is === 'character') return 1
  if (node.is === 'sequence') return node.parts.reduce((sum, part) => sum + lengthOf(part), 0)
  if (node.is === 'choice') return Math.max(...node.parts.map(lengthOf))
  if (node.is === 'repeat') return node.least * lengthOf(node.part)
  return node.is === 'group' ? lengthOf(node.part) : 0
}
