/** Counts concurrent requests of an account for its plans together, so that a hundred plans cost them little. */
import type { Database, Statement } from '../../core/ports.ts'
import { createSlots, type ReleaseSlot } from '../../core/slots.ts'
import type { Counted, Plan } from './plan.ts'
import { countRequests } from './store.ts'

/** The most requests that one write counts. To match one with a hundred plans takes a third of a millisecond. */
export const MOST_TOGETHER = 32

type Counts = ReturnType<typeof countsOf>

export function countsOf(read: readonly Plan[]) {
  const changed = new Map<string, Counted>()
  const plans = [...read]
  const places = new Map(read.map(({ plan_id }, place) => [plan_id, place]))
  return {
    /** The plans with the counts of the requests so far. */
    plans,
    note(counted: readonly Counted[]) {
      for (const count of counted) {
        const { plan_id } = count.plan
        const before = changed.get(plan_id)
        changed.set(plan_id, { ...before, ...count, plan: before?.plan ?? count.plan })
        plans[places.get(plan_id) ?? -1] = { ...count.plan, seen: count.seen, acted: count.acted }
      }
    },
    /** The statements that write the counts, unless another instance has counted a request meanwhile. */
    statements: () => countRequests([...changed.values()]),
  }
}

/** One request of a wave. */
export type Seat = ReturnType<ReturnType<typeof createWave>>

type Joined = Pick<PromiseWithResolvers<boolean>, 'resolve' | 'reject'> & {
  /** Its place among the requests that asked for the counts. */
  order: number
  statements: Statement[]
}

/**
 * A wave of so many requests of a room. Each asks for the plans, decides and writes. They share one write, with all
 * counts. If it misses, or if a request decides not to write, nothing is written, and each must be repeated alone.
 */
export function createWave(
  database: Database,
  read: () => Promise<readonly Plan[]>,
  requests: number,
) {
  const joined: Joined[] = []
  let together: Promise<Counts> | undefined
  let missing = requests
  let asked = 0
  let isBroken = false
  /** A request that runs alone has the slot. */
  const takeSlot = createSlots(1, 1)

  async function writeTogether(): Promise<void> {
    if (joined.length === 0 || joined.length < missing) return
    // Each request was decided with the counts of those before it.
    const all = joined.splice(0).sort((one, other) => one.order - other.order)
    missing = 0
    try {
      const counts = (await together)?.statements() ?? []
      const statements = [...all.flatMap(wave => wave.statements), ...counts]
      const written = !isBroken && (await database.write(statements))
      isBroken ||= !written
      for (const { resolve } of all) resolve(written)
    } catch (error) {
      for (const { reject } of all) reject(error)
    }
  }

  return () => {
    let state: 'new' | 'counted' | 'joined' = 'new'
    let order = 0
    let alone: Counts | undefined
    let release: ReleaseSlot | undefined
    const leaveSlot = () => {
      release?.()
      release = undefined
    }
    return {
      /** The plans. Their counts include the requests of the wave that have asked before. */
      async counts(): Promise<Counts> {
        if (state !== 'joined' && !isBroken) {
          state = 'counted'
          together ??= read().then(countsOf)
          const counts = await together
          order = asked++
          return counts
        }
        release = await takeSlot('')
        alone = countsOf(await read())
        return alone
      },
      /** As `write` of the database, with the counts in the same commit. */
      async write(statements: Statement[]): Promise<boolean> {
        if (alone) {
          const all = [...statements, ...alone.statements()]
          alone = undefined
          return database.write(all).finally(leaveSlot)
        }
        const { promise, resolve, reject } = Promise.withResolvers<boolean>()
        joined.push({ order, statements, resolve, reject })
        state = 'joined'
        void writeTogether()
        return promise
      },
      /** Says that the request writes nothing more. */
      end() {
        leaveSlot()
        if (state === 'joined') return
        isBroken ||= state === 'counted'
        missing -= 1
        void writeTogether()
      },
    }
  }
}
