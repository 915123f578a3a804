import type { EventEmitter } from 'node:events'
import { SLICE_MS } from '../../core/budgets.ts'
import { createRounds } from '../../core/rounds.ts'

/** Milliseconds for which requests wait at most while others connect. In as many after that they do not wait. */
const ACCEPTING_MS = 200

/**
 * Lets requests begin their work at once, for SLICE_MS in each turn of the event loop: a turn may read hundreds of
 * requests. The others wait for the next turn, in which their accounts take turns. After a turn that has accepted a
 * connection all wait: Node accepts one in each turn, so new clients would wait for the work of those before them.
 */
export function createBeginning(server: EventEmitter) {
  let hasAccepted = false
  server.on('connection', () => {
    hasAccepted = true
  })
  /** When requests began to wait for connections. */
  let accepting: number | undefined
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
      if (!isAccepting()) void beginWaiting()
    }
  }

  function isAccepting(): boolean {
    if (!hasAccepted) accepting = undefined
    else if (accepting === undefined || began - accepting >= 2 * ACCEPTING_MS) accepting = began
    hasAccepted = false
    return accepting !== undefined && began - accepting < ACCEPTING_MS
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
    if (waiting.length() === 0 && !hasAccepted && (!end || !isOver())) {
      if (!end) start()
      work()
    } else {
      waiting.add(owner, work)
      ;(end ?? start()).ref()
    }
  }
}
