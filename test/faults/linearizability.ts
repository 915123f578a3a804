/**
 * Checks that a concurrent history is linearizable: each operation can be placed at one moment between
 * its begin and its end such that every output is that of the serial machine. Wing and Gong's search
 * with memoised dead ends.
 */

/** `began` and `ended` are places in one order of all begins and ends of the history. */
export type Operation<Input> = {
  input: Input
  /** undefined: no response came, so the operation took effect at any later time or never. */
  output: string | undefined
  began: number
  ended: number
}

export type Machine<State, Input> = {
  initial: State
  /** Pure. */
  apply: (state: State, input: Input) => { state: State; output: string }
}

export function isLinearizable<State, Input>(
  history: Operation<Input>[],
  { initial, apply }: Machine<State, Input>,
): boolean {
  const deadEnds = new Set<string>()

  function search(state: State, left: Operation<Input>[]): boolean {
    if (left.every(({ output }) => output === undefined)) return true
    const place = `${JSON.stringify(state)} ${left.map(operation => history.indexOf(operation))}`
    if (deadEnds.has(place)) return false
    const firstEnd = Math.min(...left.map(endOf))
    // The first operation must have begun before any other ended.
    for (const operation of left.filter(({ began }) => began < firstEnd)) {
      const next = apply(state, operation.input)
      if (operation.output !== undefined && operation.output !== next.output) continue
      const others = left.filter(other => other !== operation)
      if (search(next.state, others)) return true
    }
    deadEnds.add(place)
    return false
  }

  return search(initial, history)
}

const endOf = ({ output, ended }: Operation<unknown>): number =>
  output === undefined ? Number.POSITIVE_INFINITY : ended
