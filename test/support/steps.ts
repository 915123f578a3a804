/**
 * Counts how often V8 steps back in a regular expression: the time grows as this number grows, on any machine. Of the
 * libraries, scslre 0.3 misses loops of several characters, such as `"state":\{([^}]*)\}`; recheck 4.5 takes 90 s for
 * the expressions of src, and looks at the first match only. A look-around without steps back counts as none.
 */
import { setFlagsFromString } from 'node:v8'
import type { Expression } from './expressions.ts'

// Stays on: V8 may drop the compiled function, and compile it again.
setFlagsFromString('--allow-natives-syntax')
/** An expression that finds nothing after `most` steps back. */
const limited = new Function(
  'source, flags, most',
  'return %NewRegExpWithBacktrackLimit(source, flags, most)',
) as (source: string, flags: string, most: number) => RegExp

const LEAST_STEPS = 16
const MOST_STEPS = 1 << 20

/** Counts all matches with the flag g, otherwise the first. A match counts as a power of two or, at most, Infinity. */
export function createSteps({ source, flags }: Expression): (text: string) => number {
  const engines = new Map<number, RegExp>()
  function engineOf(most: number): RegExp {
    // The second part matches the end of every text, so only the limit makes a test fail.
    const engine =
      engines.get(most) ?? limited(`(?:${source})|(?![^])`, `g${flags.replace(/[gy]/g, '')}`, most)
    engines.set(most, engine)
    return engine
  }
  /** The end of the next match from a place on, and its steps. */
  function next(text: string, at: number) {
    for (let steps = LEAST_STEPS; steps <= MOST_STEPS; steps *= 2) {
      const engine = engineOf(steps)
      engine.lastIndex = at
      if (engine.test(text)) return { steps, end: engine.lastIndex }
    }
    return { steps: Infinity, end: text.length }
  }
  return text => {
    // With optimisations V8 leaves out steps, and counts fewer.
    setFlagsFromString('--no-regexp-optimization')
    let { steps, end } = next(text, 0)
    while (flags.includes('g') && end < text.length) {
      const found = next(text, end)
      steps += found.steps
      end = Math.max(found.end, end + 1)
    }
    setFlagsFromString('--regexp-optimization')
    return steps
  }
}
