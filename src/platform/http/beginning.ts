import { SLICE_MS } from '../../core/budgets.ts'
import { createRounds } from '../../core/rounds.ts'

/**
 * Lets the work of requests begin at once, for SLICE_MS in each turn of the event loop, which may have read hundreds. The
 * others wait for the next turn, and then their accounts take turns.
 */
export function createBeginning() {
  const waiting = createRounds<() => void>()
  /** The end of this turn. It keeps the event loop from waiting for the network only if work waits for it. */
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
      // What follows at once belongs to this turn.
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
