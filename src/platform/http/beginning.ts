import { SLICE_MS } from '../../core/budgets.ts'
import { createRounds } from '../../core/rounds.ts'

/**
 * Lets the work of requests begin at once, for SLICE_MS in each turn of the event loop, which may have read hundreds. The
 * others wait for the next turn, and then their accounts take turns.
 */
export function createBeginning() {
  const waiting = createRounds<() => void>()
  /** When the work of this turn began. */
  let began: number | undefined

  const isOver = () => began !== undefined && performance.now() - began >= SLICE_MS

  function start(): void {
    began = performance.now()
    setImmediate(nextTurn)
  }

  async function nextTurn(): Promise<void> {
    began = undefined
    if (waiting.length() > 0) start()
    while (waiting.length() > 0 && !isOver()) {
      waiting.next()?.()
      waiting.pass()
      // What follows at once belongs to this turn.
      await undefined
    }
  }

  return (owner: string, work: () => void): void => {
    if (began === undefined) start()
    if (waiting.length() === 0 && !isOver()) work()
    else waiting.add(owner, work)
  }
}
