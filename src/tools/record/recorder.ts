/** Records exchanges as they crossed the wire, beside the requests. Exchanges beyond its limits are only counted. */
import type { Account } from '../../core/account.ts'
import { createNewId, newSecret } from '../../core/ids.ts'
import type { Database, MachineTime, Time } from '../../core/ports.ts'
import type { RawAttempt } from '../../pay/webhooks/attempts.ts'
import type { Recorded, RecordingHooks } from '../../platform/http/areas.ts'
import type { Quota } from './admission.ts'
import { type BatchPorts, createBatches } from './batches.ts'
import type { AttemptToRecord, Exchange, NewAction } from './exchange.ts'
import { answered, createRowMaker, type FactWriter, type RawExchange, rawRequest } from './row.ts'
import { createSpace, deleteOldExchanges } from './space-store.ts'

type RecorderPorts = Pick<BatchPorts, 'database' | 'onFault' | 'onRecorded'> & {
  time: Time
  factWriter: FactWriter
  /** Keys of the settings, never to be written. */
  secrets: (string | undefined)[]
  /** All requests of these accounts are recorded. A client that has the response finds its request in the record. */
  isTestAccount: (account: Account) => boolean
  /** The most bytes that the records of all accounts may take together. */
  most: number
  /** Other instances read the record too: responses of test accounts wait until their rows are written. */
  isShared: boolean
}

export type Recorder = ReturnType<typeof createRecorder>

export function createRecorder(recorderPorts: RecorderPorts) {
  const ports = { ...recorderPorts, database: forRecord(recorderPorts.database) }
  const { database, time, isTestAccount, isShared } = ports
  const makeRow = createRowMaker(newSecret().slice(0, 6), ports.secrets, ports.factWriter)
  const space = createSpace(ports)
  const batches = createBatches({ ...ports, nextId: createNextId(time), makeRow, space })
  const arriving = new Set<Promise<void>>()
  const quotaOf = (account: Account): Quota => ({
    room: account.room,
    unlimited: isTestAccount(account),
  })

  /**
   * Writes the exchanges in memory, so that a reader finds them; with `account` only if one of its exchanges is there.
   * Takes a second at most. Never rejects.
   */
  async function write(account?: Account): Promise<void> {
    if (!account || batches.mayHave(account.room)) await withinReason(batches.write())
  }

  return {
    write,
    /** Records an attempt within the limits, once its response has arrived. Records every attempt of a test account. */
    attempt(account: Account, raw: RawAttempt): void {
      const recording = answered(account, raw).then(async attempt => {
        batches.add(quotaOf(account), attempt.failed, () => attempt)
        if (isShared && isTestAccount(account)) await batches.write()
      })
      arriving.add(recording)
      void recording.finally(() => arriving.delete(recording))
    },
    attemptByHand: async (account: Account, raw: AttemptToRecord): Promise<Exchange> =>
      recordNow(batches, quotaOf(account), await answered(account, raw), raw.failed),
    action: (account: Account, action: NewAction): Promise<void> =>
      withinReason(recordNow(batches, quotaOf(account), action, false)),
    /** Waits for responses, and writes everything in memory. Never rejects. */
    async flush(): Promise<void> {
      await Promise.all(arriving)
      await batches.flush()
    },
    hooks: (kind: 'api' | 'page', recorded: Recorded): RecordingHooks => ({
      onRequest: hook => (request, reply, done) => {
        request.began = time.wall()
        hook(request, reply, done)
      },
      onSend(request, reply, payload, done) {
        const account = request.effects?.account ?? request.account
        // `began` is 0 if nothing is recorded, such as at an unknown path below /control.
        if (!account || request.began === 0) return done(null, payload)
        const raw = () => rawRequest(kind, recorded, time, { request, reply, payload, account })
        batches.add(quotaOf(account), reply.statusCode >= 400, raw)
        if (isTestAccount(account) && (isShared || batches.isBehind()))
          void write().then(() => done(null, payload))
        else done(null, payload)
      },
    }),
    /** Deletes all but the newest exchanges of each account. */
    async trim(stop?: AbortSignal): Promise<void> {
      batches.forget()
      await space.trim(stop)
    },
    /** Frees space after a write has found the disk full, and records nothing for some seconds. Never rejects. */
    async giveWay(): Promise<void> {
      batches.pause()
      await space.giveWay()
    },
    /** Deletes exchanges that are too old. `now` is the machine's time. */
    sweep: (now: MachineTime, stop?: AbortSignal) => deleteOldExchanges(database, now, stop),
    /** As `flush`, and stops the timer that writes. */
    async close(): Promise<void> {
      await Promise.all(arriving)
      await batches.close()
    },
  }
}

const forRecord = (database: Database): Database => ({
  ...database,
  write: all => database.write(all.map(statement => ({ ...statement, ofRecord: true }))),
})

/** Records an exchange at once, within the limits. Resolves to the row, even if the exchange was only counted. */
async function recordNow(
  batches: ReturnType<typeof createBatches>,
  quota: Quota,
  raw: RawExchange,
  failed: boolean,
): Promise<Exchange> {
  const { promise: done, resolve } = Promise.withResolvers<Exchange>()
  batches.add(quota, failed, () => raw, resolve)
  await batches.write()
  return done
}

/** The most milliseconds that a response waits for the record: a locked record delays no payment longer. */
export const LONGEST_HOLD = 1_000

async function withinReason(writing: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, LONGEST_HOLD)
  await Promise.race([writing, late])
  clearTimeout(timer)
}

/** Milliseconds. If the machine's clock goes back by no more than this, identifiers keep the latest time seen. */
const LONGEST_STEP_BACK = 60_000

/** Makes identifiers that grow, so that a row never comes before one that was written earlier. */
function createNextId({ wall }: Pick<Time, 'wall'>): () => string {
  const newId = createNewId()
  let latest = 0
  return () => {
    const now = wall()
    if (now > latest || now < latest - LONGEST_STEP_BACK) latest = now
    return newId(latest)
  }
}
