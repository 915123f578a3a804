/**
 * Whether a history of overlapping operations could have happened one at a time: each at some moment
 * between its begin and its end, and each answering as it would have then. The search of Wing and
 * Gong, with a memory of the dead ends.
 */

/** Begin and end are places in one order of all begins and ends of the history. */
export type Operation<Input> = {
  input: Input
  /** undefined: no answer came, so that it happened at any time later on, or never. */
  output: string | undefined
  began: number
  ended: number
}

/** What one operation at a time does. */
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
    // Only what began before anything else ended can have come first.
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

export type Recorder<Input> = {
  history: Operation<Input>[]
  /** Runs `perform` and notes when it began, when it ended and what it answered. */
  record(input: Input, perform: () => Promise<string>): Promise<void>
}

export function createRecorder<Input>(): Recorder<Input> {
  const history: Operation<Input>[] = []
  let places = 0
  return {
    history,
    async record(input, perform) {
      const operation: Operation<Input> = {
        input,
        output: undefined,
        began: ++places,
        ended: Number.POSITIVE_INFINITY,
      }
      history.push(operation)
      operation.output = await perform()
      operation.ended = ++places
    },
  }
}

/** The history for people, in the order of the begins. */
export const story = <Input>(history: Operation<Input>[]): string =>
  history
    .map(
      ({ input, output, began, ended }) => `${began}-${ended} ${JSON.stringify(input)}: ${output}`,
    )
    .join('\n')
