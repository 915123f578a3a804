/** The SQL of attempts that wait for a listener, at whichever instance it asks. */

import type { Database, MachineTime, Statement } from '../../core/ports.ts'

/** Where an attempt is kept. */
export type AttemptKey = { room: string; webhook_id: string; attempt_id: string }

/** For the listener. It sends the body unchanged, with these headers. */
export type Offer = { message_id: string; headers: Record<string, string>; body: string }

/** Milliseconds after which a row is left over from an instance that stopped. */
const LEFT_OVER = 60_000

const KEY = 'account = $1 and webhook_id = $2 and attempt_id = $3'

const keyOf = ({ room, webhook_id, attempt_id }: AttemptKey) => [room, webhook_id, attempt_id]

/** Fails its `expect` when nobody listens at `now`. Nobody takes the attempt after `expires`. */
export const offerAttempt = (
  key: AttemptKey,
  offer: Offer,
  [now, expires]: [now: MachineTime, expires: MachineTime],
): Statement => ({
  sql: `insert into listener_attempts (account, webhook_id, attempt_id, expires, taken, offer)
        select $1, $2, $3, cast($4 as bigint), 0, $5 from webhooks
        where account = $1 and webhook_id = $2 and status = 'ACTIVE' and listening_until > $6`,
  values: [...keyOf(key), expires, JSON.stringify(offer), now],
  expect: 1,
})

type Due = { listening_until: number; attempt_id: string | null; offer: string | null }

/** Until when the webhook's listener counts as connected, and the oldest attempt that waits for it, if there is one. */
export async function findDue(
  database: Database,
  { room, webhook_id }: Omit<AttemptKey, 'attempt_id'>,
  now: MachineTime,
): Promise<Due | undefined> {
  const [row] = await database.query<Due>(
    `select listening_until, attempt_id, offer
     from webhooks left join listener_attempts attempts
       on attempts.account = webhooks.account and attempts.webhook_id = webhooks.webhook_id
         and taken = 0 and expires > $3
     where webhooks.account = $1 and webhooks.webhook_id = $2 and status = 'ACTIVE'
     order by attempt_id limit 1`,
    [room, webhook_id, now],
  )
  return row
}

/** Fails its `expect` when another request has taken the attempt, or it has ended. */
export const takeAttempt = (key: AttemptKey): Statement => ({
  sql: `update listener_attempts set taken = 1 where ${KEY} and taken = 0`,
  values: keyOf(key),
  expect: 1,
})

/** For another request. */
export const returnAttempt = (key: AttemptKey): Statement => ({
  sql: `update listener_attempts set taken = 0 where ${KEY}`,
  values: keyOf(key),
})

/** Fails its `expect` when no such attempt waits for an answer. */
export const answerAttempt = (key: AttemptKey, answer: string): Statement => ({
  sql: `update listener_attempts set answer = $4 where ${KEY} and taken = 1 and answer is null`,
  values: [...keyOf(key), answer],
  expect: 1,
})

type Offered = { taken: number; answer: string | null; listening_until: number }

export async function findOffered(
  database: Database,
  key: AttemptKey,
): Promise<Offered | undefined> {
  const [row] = await database.query<Offered>(
    `select taken, answer,
       (select listening_until from webhooks where account = $1 and webhook_id = $2) as listening_until
     from listener_attempts where ${KEY}`,
    keyOf(key),
  )
  return row
}

/** Fails its `expect` when somebody has taken the attempt, or has answered it. */
export const withdrawAttempt = (key: AttemptKey, { taken }: Pick<Offered, 'taken'>): Statement => ({
  sql: `delete from listener_attempts where ${KEY} and taken = $4 and answer is null`,
  values: [...keyOf(key), taken],
  expect: 1,
})

export const deleteAttempt = (key: AttemptKey): Statement => ({
  sql: `delete from listener_attempts where ${KEY}`,
  values: keyOf(key),
})

/** Deletes what instances that stopped have left. `now` is the machine's time. */
export async function deleteLeftOver(database: Database, now: MachineTime): Promise<void> {
  await database.write([
    { sql: 'delete from listener_attempts where expires < $1', values: [now - LEFT_OVER] },
  ])
}
