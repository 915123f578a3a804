import { SLICE_MS } from '../../core/budgets.ts'
import { createRounds } from '../../core/rounds.ts'

/**
 * Lets requests begin their work at once, for SLICE_MS in each turn of the event loop: a turn may read hundreds of
 * requests. The others wait for the next turn, in which their accounts take turns.
 */
export function createBeginning() {
  const waiting = createRounds<() => void>()
  /** The end of this turn of the event loop. Only if work waits, it keeps the loop from waiting for the network. */
  let end: NodeJS.Immediate | undefined
  let began = 0

  const isOver = () => performance.now() - began >= SLICE_MS

  function start(): NodeJS.Immediate {
    began = performance.now()
    end = setImmediate(nextTurn).unref()
    return end
  }

  function nextTurn(): void {
    end = undefined
    if (waiting.length() > 0) {
      start().ref()
      void beginWaiting()
    }
  }

  async function beginWaiting(): Promise<void> {
    while (waiting.length() > 0 && !isOver()) {
      waiting.next()?.()
      waiting.pass()
      // Promises of the work that have settled continue now, and their time counts in this turn.
      await undefined
    }
  }

  return (owner: string, work: () => void): void => {
    if (waiting.length() === 0 && (!end || !isOver())) {
      if (!end) start()
      work()
    } else {
      waiting.add(owner, work)
      ;(end ?? start()).ref()
    }
  }
}
