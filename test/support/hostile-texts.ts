import { type Node, parse, type Test } from './expression-parts.ts'
import type { Expression } from './expressions.ts'

/** The characters from which the texts are made, in place of all others. */
const CHARACTERS = [
  ...Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)),
  ...Array.from({ length: 33 }, (_, i) => String.fromCharCode(i)),
  ...'\x7f\x80é£\u2028\ufeff…',
]

/** One character for each set of characters that the tests tell apart. */
function alphabetOf(tests: Test[]): string[] {
  const kinds = Map.groupBy(CHARACTERS, character => tests.map(test => test(character)).join())
  return [...kinds.values()].map(([first = '']) => first)
}

/** Ends that are tried at most. The best is a character that no part takes; without one also pairs of so many. */
const MOST_ENDS = 20
const FEW = 4
const LONG = 16

/**
 * Texts that make backtracking do its worst: the shortest way to each long loop, then a word of the loop repeated, then
 * a wrong end. None for an expression without long loops, which does limited work at each place. `size`: the
 * repetitions, more than the limit of any loop.
 */
export function hostileTexts(expression: Expression) {
  const { root, tests } = parse(expression)
  const isWord: Test = character => /\w/.test(character)
  const alphabet = alphabetOf([...tests, isWord])
  const inLoops = new Set<Test>()
  const beginnings = new Set<string>()
  const words = new Set<string>()
  const samples = new Map<string, string>()
  let longestBound = 0

  /** The shortest text that a part matches. */
  function sampleOf(node: Node): string {
    if (node.is === 'character') return alphabet.find(node.test) ?? ''
    if (node.is === 'sequence') return node.parts.map(sampleOf).join('')
    if (node.is === 'choice')
      return node.parts
        .map(sampleOf)
        .reduce((one, other) => (other.length < one.length ? other : one))
    if (node.is === 'repeat') return sampleOf(node.part).repeat(node.least)
    if (node.is === 'again') return samples.get(node.name) ?? ''
    if (node.is !== 'group') return ''
    const sample = sampleOf(node.part)
    samples.set(node.name, sample)
    return sample
  }

  function walk(node: Node, before: string, isInLoop: boolean): void {
    if (node.is === 'character' && isInLoop) inLoops.add(node.test)
    if (node.is === 'sequence') {
      let way = before
      for (const part of node.parts) {
        walk(part, way, isInLoop)
        way += sampleOf(part)
      }
    } else if (node.is === 'choice')
      for (const part of node.parts) {
        if (isInLoop) words.add(sampleOf(part))
        walk(part, before, isInLoop)
      }
    else if (node.is === 'group' || node.is === 'look') walk(node.part, before, isInLoop)
    else if (node.is === 'repeat') {
      const isLong = node.most >= LONG
      if (isLong) {
        beginnings.add(before)
        words.add(sampleOf(node.part))
        // The loop can begin again wherever the text before it is repeated.
        words.add(before + sampleOf(node.part))
        if (node.most < Infinity) longestBound = Math.max(longestBound, node.most)
      }
      walk(node.part, before, isInLoop || isLong)
    }
  }

  walk(root, '', false)
  if (beginnings.size > 0) beginnings.add('')
  for (const character of alphabet)
    if ([...inLoops].some(test => test(character))) words.add(character)
  const untaken = alphabet.filter(character => !tests.some(test => test(character)))
  const few = untaken.length === 0 ? alphabet.slice(0, FEW) : []
  const pairs = few.flatMap(one => few.map(other => one + other))
  const ends = new Set(['', ...untaken, ...alphabet, ...pairs])
  const drawn = [...beginnings].flatMap(beginning =>
    [...words]
      .filter(Boolean)
      .flatMap(word =>
        [...ends]
          .slice(0, MOST_ENDS)
          .map(end => (times: number) => beginning + word.repeat(times) + end),
      ),
  )
  return { drawn, size: Math.max(60, 2 * longestBound) }
}
