import type { Actor, Exchange, Recorder } from '../../core/exchange.ts'
import type { Time } from '../../core/ports.ts'
import { type Note, type Noted, together } from '../../platform/http/request-state.ts'

/** What somebody does to a payment without a request that is recorded. */
export type Action<Result> = {
  by: Actor
  /** The operationId of the request that would have done it. */
  operation: string
  /** What the action was, as a query: `scenario=declined`. */
  detail: (result: Result) => string
}

/**
 * Runs `act` and records what it caused under one action, so that the timeline of the payment can say who did it.
 * Also what it caused before it failed. Without a recorder it runs only.
 */
export async function recordAction<Result>(
  { recorder, time }: { recorder: Recorder | undefined; time: Time },
  { by, operation, detail }: Action<Result>,
  act: (note: Note) => Promise<Result>,
): Promise<Result> {
  const began = time.wall()
  let noted: Noted | undefined
  const note: Note = (account, payment, caused) => {
    noted = { account, payment, caused: together(noted?.caused, caused) }
  }
  let query = ''
  try {
    const result = await act(note)
    query = detail(result)
    return result
  } finally {
    if (noted?.caused) {
      const at = time.now(noted.account, began)
      await recorder?.action(noted.account, began, actionRow(noted, { at, by, operation, query }))
      // Whoever acted on a page looks at the attempts next.
      if (by === 'console') await recorder?.flush()
    }
  }
}

type Did = { at: number; by: Actor; operation: string; query: string }

function actionRow({ account, payment, caused }: Noted, did: Did): Omit<Exchange, 'exchange_id'> {
  const { at, by, operation, query } = did
  return {
    room: account.room,
    payment_id: payment.payment_id,
    message_id: null,
    kind: 'action',
    operation,
    status: null,
    refused: false,
    at,
    by,
    method: '',
    path: '',
    query,
    request_headers: {},
    response_headers: {},
    ms: 0,
    ended: 'sent',
    ...(caused && { caused }),
  }
}
