import type { Database, MachineTime, Statement } from '../../core/ports.ts'

/** A run that sends failed messages of an account again, one after the other. An account has one run at a time. */
export type Resend = {
  /** When the run began, in milliseconds on the account's clock. */
  at: number
  /** The identifiers of the messages that are still to be sent, in order. */
  left: string[]
  accepted: number
  failed: number
  /** The number of messages that could no longer be sent. */
  skipped: number
}

/** The newest run of an account, and until when an instance claims the account. */
export type NewestResend = Resend & { claimed_until: number }

export const isRunning = (resend: NewestResend | undefined, now: MachineTime): boolean =>
  resend !== undefined && resend.claimed_until > now && resend.left.length > 0

export async function findResend(database: Database, room: string) {
  const [row] = await database.query<{ body: string; claimed_until: number }>(
    'select body, claimed_until from resends where account = $1',
    [room],
  )
  return row && { ...(JSON.parse(row.body) as Resend), claimed_until: row.claimed_until } // written here
}

/**
 * Begins a run. Without `resend` it claims the account for other messages that are sent by hand, and leaves the newest
 * run in the row. Fails its `expect` while the account is claimed. `now` is the machine's time.
 */
export const claimSending = (
  room: string,
  { resend, claimed_until }: { resend?: Resend; claimed_until: number },
  now: MachineTime,
): Statement => ({
  sql: `insert into resends (account, claimed_until, body) values ($1, $2, $3)
        on conflict (account) do update set claimed_until = excluded.claimed_until
        ${resend ? ', body = excluded.body' : ''} where resends.claimed_until <= $4`,
  values: [room, claimed_until, JSON.stringify(resend ?? NO_RUN), now],
  expect: 1,
})

/** Fails its `expect` if the run was changed since it was read. Then this run must not go on. */
export const saveResend = (
  room: string,
  before: Resend,
  after: Resend,
  claimed_until: number,
): Statement => ({
  sql: 'update resends set claimed_until = $3, body = $4 where account = $1 and body = $2',
  values: [room, JSON.stringify(before), claimed_until, JSON.stringify(after)],
  expect: 1,
})

/** Stands for no run, in the row of an account that had none before other messages were sent by hand. */
const NO_RUN: Resend = { at: 0, left: [], accepted: 0, failed: 0, skipped: 0 }

/** Changes nothing if other work has the claim. */
export const endSending = (room: string, until: number): Statement => ({
  sql: 'update resends set claimed_until = 0 where account = $1 and claimed_until = $2',
  values: [room, until],
})
