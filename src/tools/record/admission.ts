import type { MachineTime } from '../../core/ports.ts'

/** How many exchanges are recorded: making and keeping a row costs as much as a payment does. */

/** `burst` at once, then `rate` a second. */
type Bucket = { left: number; at: MachineTime }
type Size = { burst: number; rate: number }

const ACCOUNT: Size = { burst: 2_000, rate: 100 }
const REFUSED: Size = { burst: 500, rate: 20 }
const INSTANCE: Size = { burst: 2_000, rate: 400 }

const REFUSED_OF_INSTANCE: Size = { burst: 2_000, rate: 200 }

/** Why an exchange was only counted: a limit, or a write of the record that failed or would take room from payments. */
export type Bound = 'account' | 'instance' | 'memory' | 'database'

/** `unlimited`: all its exchanges are recorded, as far as there is room for them. */
export type Room = { name: string; unlimited: boolean }

/** The exchanges of one account that were only counted. Times in milliseconds. */
export type Gap = { count: number; refused: number; from: number; to: number; bounds: Bound[] }

type Admission = {
  /**
   * The limit that keeps an exchange of this room from being recorded, if one does. Refusals have buckets of their own,
   * so that they are recorded during a load test too, whoever runs it.
   */
  refuse(room: Room, refused: boolean, now: MachineTime): Bound | undefined
  /** Refuses everything until then. */
  pause(until: number): void
  /** Counts an exchange that is not recorded. */
  count(room: string, refused: boolean, at: MachineTime, bound: Bound): void
  /** Removes and returns, by room, the counts that began at `until` or before. Milliseconds. */
  takeGaps(until: MachineTime): Map<string, Gap>
  /** Adds gaps that could not be written to those that are counted now. */
  putBack(gaps: Map<string, Gap>): void
  hasGaps(until: MachineTime): boolean
  /** Removes the accounts whose buckets are full again. */
  forget(now: MachineTime): void
}

type Buckets = { all: Bucket; refused: Bucket }

export function createAdmission(): Admission {
  const accounts = new Map<string, Buckets>()
  let instance: Buckets | undefined
  let pausedUntil = 0
  const gaps = new Map<string, Gap>()

  function add(room: string, { count, refused, from, to, bounds }: Gap): void {
    const gap = gaps.get(room)
    if (!gap) gaps.set(room, { count, refused, from, to, bounds })
    else {
      gap.count += count
      gap.refused += refused
      gap.from = Math.min(gap.from, from)
      gap.to = Math.max(gap.to, to)
      for (const bound of bounds) if (!gap.bounds.includes(bound)) gap.bounds.push(bound)
    }
  }

  return {
    pause(until) {
      pausedUntil = until
    },
    refuse({ name, unlimited }, refused, now) {
      if (now < pausedUntil) return 'database'
      if (unlimited) return undefined
      instance ??= {
        all: { left: INSTANCE.burst, at: now },
        refused: { left: REFUSED_OF_INSTANCE.burst, at: now },
      }
      let buckets = accounts.get(name)
      if (!buckets) {
        buckets = {
          all: { left: ACCOUNT.burst, at: now },
          refused: { left: REFUSED.burst, at: now },
        }
        accounts.set(name, buckets)
      }
      const [bucket, all] = refused
        ? [buckets.refused, instance.refused]
        : [buckets.all, instance.all]
      refill(bucket, refused ? REFUSED : ACCOUNT, now)
      refill(all, refused ? REFUSED_OF_INSTANCE : INSTANCE, now)
      if (bucket.left < 1) return 'account'
      if (all.left < 1) return 'instance'
      bucket.left -= 1
      all.left -= 1
      return undefined
    },
    count: (room, refused, at, bound) =>
      add(room, { count: 1, refused: Number(refused), from: at, to: at, bounds: [bound] }),
    takeGaps(until) {
      const taken = new Map([...gaps].filter(([, { from }]) => from <= until))
      for (const room of taken.keys()) gaps.delete(room)
      return taken
    },
    putBack(taken) {
      for (const [room, gap] of taken) add(room, gap)
    },
    hasGaps: until => gaps.values().some(({ from }) => from <= until),
    forget(now) {
      for (const [room, { all, refused }] of accounts) {
        refill(all, ACCOUNT, now)
        refill(refused, REFUSED, now)
        if (all.left >= ACCOUNT.burst && refused.left >= REFUSED.burst) accounts.delete(room)
      }
    },
  }
}

function refill(bucket: Bucket, { burst, rate }: Size, now: MachineTime): void {
  if (now <= bucket.at) return
  bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) * rate) / 1_000)
  bucket.at = now
}
