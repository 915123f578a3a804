import type { Database, MachineTime, Statement } from '../../core/ports.ts'

/** Failed messages of an account that are sent again one after the other. One run of an account at a time. */
export type Resend = {
  /** When it began, in milliseconds on the account's clock. */
  at: number
  /** The identifiers of the messages that are still to be sent, in order. */
  left: string[]
  accepted: number
  failed: number
  /** Those that could not be sent any more. */
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
 * Begins a run, or without `resend` claims the account for other messages that are sent by hand, and leaves what is known of
 * the newest run. Fails its `expect` while the account is claimed. `now` is the machine's time.
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

/** Fails its `expect` when somebody else has changed the run since: it goes on only if nobody did. */
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

/** No run, for an account whose row only says that other messages of it are being sent by hand. */
const NO_RUN: Resend = { at: 0, left: [], accepted: 0, failed: 0, skipped: 0 }

/** Changes nothing where somebody else has the claim. */
export const endSending = (room: string, until: number): Statement => ({
  sql: 'update resends set claimed_until = 0 where account = $1 and claimed_until = $2',
  values: [room, until],
})
