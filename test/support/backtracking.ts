/**
 * Matches regular expressions as V8 does, by backtracking, and counts its steps: how their number grows is how the time
 * grows, on any machine. Lookbehinds have a fixed length. Of the libraries scslre 0.3 misses loops of several characters,
 * such as `"state":\{([^}]*)\}`; recheck 4.5 takes 137 s for these expressions and knows no lookbehind or back reference.
 */
import type { Node, Parsed, Test } from './expression-parts.ts'

type Step =
  | { do: 'take'; test: Test }
  | { do: 'fork'; first: number; second: number }
  | { do: 'go'; to: number }
  | { do: 'save'; slot: number }
  | { do: 'moved'; slot: number }
  | { do: 'edge'; kind: string }
  | { do: 'again'; group: number }
  | { do: 'look'; steps: Step[]; length: number | undefined; negative: boolean }
  | { do: 'end' }

/** The steps of a machine that matches it. Slots 2n and 2n + 1 are the ends of group n, those after them the beginnings of loops. */
export function compile({ root, flags, groupOf, groups }: Parsed) {
  let slots = 2 * groups + 2

  function stepsOf(node: Node): Step[] {
    const steps: Step[] = []
    add(node, steps)
    return [...steps, { do: 'end' }]
  }

  function add(node: Node, steps: Step[]): void {
    if (node.is === 'character') steps.push({ do: 'take', test: node.test })
    else if (node.is === 'sequence') for (const part of node.parts) add(part, steps)
    else if (node.is === 'choice') addChoice(node.parts, steps)
    else if (node.is === 'repeat') addRepeat(node, steps)
    else if (node.is === 'edge') steps.push({ do: 'edge', kind: node.kind })
    else if (node.is === 'again') steps.push({ do: 'again', group: groupOf(node.name) })
    else if (node.is === 'look') {
      const length = node.behind ? lengthOf(node.part) : undefined
      steps.push({ do: 'look', steps: stepsOf(node.part), length, negative: node.negative })
    } else if (node.is === 'group') {
      steps.push({ do: 'save', slot: 2 * node.index })
      add(node.part, steps)
      steps.push({ do: 'save', slot: 2 * node.index + 1 })
    }
  }

  function addChoice(parts: Node[], steps: Step[]): void {
    const ends: { do: 'go'; to: number }[] = []
    for (const [i, part] of parts.entries()) {
      const fork = { do: 'fork' as const, first: steps.length + 1, second: 0 }
      if (i < parts.length - 1) steps.push(fork)
      add(part, steps)
      const end = { do: 'go' as const, to: 0 }
      ends.push(end)
      steps.push(end)
      fork.second = steps.length
    }
    for (const end of ends) end.to = steps.length
  }

  function addRepeat({ part, least, most, lazy }: Node & { is: 'repeat' }, steps: Step[]): void {
    for (let i = 0; i < least; i++) add(part, steps)
    const forks: { do: 'fork'; first: number; second: number }[] = []
    const fork = () => {
      const made = { do: 'fork' as const, first: steps.length + 1, second: 0 }
      forks.push(made)
      steps.push(made)
    }
    if (most === Infinity) {
      const begins = steps.length
      fork()
      const slot = slots++
      steps.push({ do: 'save', slot })
      add(part, steps)
      steps.push({ do: 'moved', slot }, { do: 'go', to: begins })
    } else
      for (let i = least; i < most; i++) {
        fork()
        add(part, steps)
      }
    for (const made of forks) {
      made.second = steps.length
      if (lazy) [made.first, made.second] = [made.second, made.first]
    }
  }

  const steps = stepsOf(root)
  return { steps, slots, flags }
}

function lengthOf(node: Node): number {
  if (node.is === 'character') return 1
  if (node.is === 'group') return lengthOf(node.part)
  if (node.is === 'sequence') return node.parts.reduce((sum, part) => sum + lengthOf(part), 0)
  if (node.is === 'repeat' && node.least === node.most) return node.least * lengthOf(node.part)
  if (node.is === 'edge' || node.is === 'look') return 0
  if (node.is === 'choice' && new Set(node.parts.map(lengthOf)).size === 1)
    return lengthOf(node.parts[0] as Node) // all have its length
  throw new Error('a lookbehind must have a fixed length')
}

/** All matches with the flag g, as far as replaceAll looks, otherwise the first. Counts at most `most` steps. */
export function match(
  { steps, slots, flags }: ReturnType<typeof compile>,
  text: string,
  most: number,
) {
  let counted = 0
  const ignoresCase = flags.includes('i')
  const isMultiline = flags.includes('m')
  const isWord = (i: number) => /\w/.test(text[i] ?? '')
  const isLineEnd = (i: number) => /[\n\r\u2028\u2029]/.test(text[i] ?? '')

  function isAt(kind: string, i: number): boolean {
    if (kind === '^') return i === 0 || (isMultiline && isLineEnd(i - 1))
    if (kind === '$') return i === text.length || (isMultiline && isLineEnd(i))
    return (isWord(i - 1) !== isWord(i)) === (kind === '\\b')
  }

  /** Where the match that begins there ends. */
  function run(program: Step[], begin: number, saved: Int32Array): number | undefined {
    const stack: [to: number, at: number, slot: number, value: number][] = []
    let next = 0
    let at = begin
    while (counted <= most) {
      counted += 1
      const step = program[next] as Step // every program ends with `end`
      next += 1
      let isRight = true
      if (step.do === 'end') return at
      if (step.do === 'take') {
        isRight = at < text.length && step.test(text[at] ?? '')
        at += 1
      } else if (step.do === 'fork') {
        stack.push([step.second, at, -1, 0])
        next = step.first
      } else if (step.do === 'go') next = step.to
      else if (step.do === 'save') {
        stack.push([-1, 0, step.slot, saved[step.slot] ?? -1])
        saved[step.slot] = at
      } else if (step.do === 'moved') isRight = saved[step.slot] !== at
      else if (step.do === 'edge') isRight = isAt(step.kind, at)
      else if (step.do === 'again') {
        const [from = -1, to = -1] = saved.subarray(2 * step.group, 2 * step.group + 2)
        const [part, here] = [text.slice(from, to), text.slice(at, at + to - from)]
        isRight =
          to < 0 || part === here || (ignoresCase && part.toLowerCase() === here.toLowerCase())
        at += Math.max(0, to - from)
      } else {
        const from = at - (step.length ?? 0)
        const found = from < 0 ? undefined : run(step.steps, from, saved)
        isRight = (found !== undefined) !== step.negative
      }
      if (isRight) continue
      let back = stack.pop()
      for (; back && back[2] >= 0; back = stack.pop()) saved[back[2]] = back[3]
      if (!back) return undefined
      ;[next, at] = back
    }
    return undefined
  }

  const found: string[] = []
  for (let begin = 0; begin <= text.length && counted <= most; begin++) {
    const end = run(steps, begin, new Int32Array(slots).fill(-1))
    if (end === undefined) continue
    found.push(`${begin}-${end}`)
    if (!flags.includes('g')) break
    if (end > begin) begin = end - 1
  }
  return { found, counted }
}
