/** Limits how many exchanges are recorded: making and keeping a row costs as much as a payment does. */
import {
  ALL_RECORDED_A_SECOND,
  ALL_REFUSALS_A_SECOND,
  RECORDED_A_SECOND,
  RECORDED_AT_ONCE,
  REFUSALS_A_SECOND,
  REFUSALS_AT_ONCE,
} from '../../core/budgets.ts'
import type { MachineTime } from '../../core/ports.ts'
import { type Bound, type Gap, together } from './exchange.ts'

type Bucket = { left: number; at: MachineTime }
/** `burst` at once, then `rate` a second. */
type Size = { burst: number; rate: number }
/** Refusals have buckets of their own, so that they are recorded even during a load test of any account. */
type Each<Value> = { all: Value; refused: Value }

const ACCOUNT: Each<Size> = {
  all: { burst: RECORDED_AT_ONCE, rate: RECORDED_A_SECOND },
  refused: { burst: REFUSALS_AT_ONCE, rate: REFUSALS_A_SECOND },
}
const INSTANCE: Each<Size> = {
  all: { burst: RECORDED_AT_ONCE, rate: ALL_RECORDED_A_SECOND },
  refused: { burst: RECORDED_AT_ONCE, rate: ALL_REFUSALS_A_SECOND },
}

/** Milliseconds without records after the disk was full, so that payments get the space. */
const PAUSE = 10_000

/** The room of an exchange. `unlimited`: all exchanges of the room are recorded, as far as there is space for them. */
export type Quota = { room: string; unlimited: boolean }

export function createAdmission() {
  const accounts: Each<Map<string, Bucket>> = { all: new Map(), refused: new Map() }
  const instance: Each<Bucket | undefined> = { all: undefined, refused: undefined }
  let pausedAt = -Infinity
  const gaps = new Map<string, Gap>()

  function add(room: string, gap: Gap): void {
    const before = gaps.get(room)
    gaps.set(room, before ? together(before, gap) : gap)
  }

  return {
    pause(now: MachineTime): void {
      pausedAt = now
    },
    /** The limit because of which an exchange of this room is not recorded; undefined if it is. */
    refuse({ room, unlimited }: Quota, refused: boolean, now: MachineTime): Bound | undefined {
      if (now >= pausedAt && now < pausedAt + PAUSE) return 'database'
      if (unlimited) return undefined
      const kind = refused ? 'refused' : 'all'
      const ofAccount = refilled(accounts[kind].get(room), ACCOUNT[kind], now)
      accounts[kind].set(room, ofAccount)
      const ofInstance = refilled(instance[kind], INSTANCE[kind], now)
      instance[kind] = ofInstance
      if (ofAccount.left < 1) return 'account'
      if (ofInstance.left < 1) return 'instance'
      ofAccount.left -= 1
      ofInstance.left -= 1
      return undefined
    },
    count: (room: string, refused: boolean, at: MachineTime, bound: Bound): void =>
      add(room, { count: 1, refused: Number(refused), from: at, to: at, bounds: [bound] }),
    /** Removes and returns, by room, the counts that began at `until` or before. Milliseconds. */
    takeGaps(until: MachineTime): Map<string, Gap> {
      const taken = new Map([...gaps].filter(([, { from }]) => from <= until))
      for (const room of taken.keys()) gaps.delete(room)
      return taken
    },
    putBack(taken: Map<string, Gap>): void {
      for (const [room, gap] of taken) add(room, gap)
    },
    hasGaps: (): boolean => gaps.size > 0,
    /** Removes the accounts' buckets that are full again. */
    forget(now: MachineTime): void {
      for (const kind of ['all', 'refused'] as const)
        for (const [room, bucket] of accounts[kind])
          if (refilled(bucket, ACCOUNT[kind], now).left >= ACCOUNT[kind].burst)
            accounts[kind].delete(room)
    },
  }
}

/** A new bucket is full. */
function refilled(bucket: Bucket | undefined, { burst, rate }: Size, now: MachineTime): Bucket {
  if (!bucket) return { left: burst, at: now }
  // If the clock was put back, time counts from its new value.
  const elapsed = Math.max(0, now - bucket.at)
  bucket.left = Math.min(burst, bucket.left + (elapsed * rate) / 1_000)
  bucket.at = now
  return bucket
}
