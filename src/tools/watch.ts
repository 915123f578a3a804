/**
 * Notices the writes of other processes, for all requests that wait in this process: one look for all, with a query for
 * every 64 accounts. It only sets signals. The writes of this process set their signals themselves, at once.
 */
import { padded } from '../core/gather.ts'
import { idFloor } from '../core/ids.ts'
import type { Ports } from '../core/ports.ts'
import {
  answerTo,
  attemptFor,
  changedIn,
  ended,
  leftBy,
  revoked,
  type Signals,
} from '../core/signal.ts'
import { RECONNECT_TIME } from '../pay/webhooks/listener.ts'
import { LONGEST_COMMIT } from '../platform/database/follow.ts'
import { listenersOf, livingKeysOf, markersOf } from './watch-store.ts'

/** Milliseconds between two looks. */
const EVERY = 1_000
/**
 * The same for ten seconds after another instance was noticed, and while an attempt waits for a listener at another
 * instance: the attempt has to pass both instances within its two seconds.
 */
const EVERY_BESIDE_OTHERS = 50
const BESIDE_OTHERS = 10_000

/** The most rooms, or keys, of one query. */
const AT_ONCE = 64

/** The things for which a request waits. */
type Watched = {
  room: string
  /** Whether it also waits for the listeners of the room. */
  listens?: boolean
  /** The attempt whose answer is waited for, and whether its listener is at another instance. */
  attempt_id?: string
  isElsewhere?: boolean
  /** The key that must not be revoked. */
  key_id?: string | undefined
}

export type WatchPorts = Pick<Ports, 'database' | 'time'> & { signals: Signals }

export type Watch = ReturnType<typeof createWatch>

export function createWatch(ports: WatchPorts) {
  const { signals } = ports
  const [listening, attempts, elsewhere, keys] = [bag(), bag(), bag(), bag()]
  const rooms = createRooms(ports, notice)
  let othersSeen = Number.NEGATIVE_INFINITY
  let due = Infinity
  let timer: NodeJS.Timeout | undefined

  /** Notes that another instance has written something for which a request waits here. */
  function notice(): void {
    othersSeen = performance.now()
  }

  /** Makes the next look come sooner, if need be. */
  function schedule(): void {
    const now = performance.now()
    const isShared = elsewhere.size > 0 || now - othersSeen < BESIDE_OTHERS
    const ms = isShared ? EVERY_BESIDE_OTHERS : EVERY
    if (due <= now + ms) return
    clearTimeout(timer)
    due = now + ms
    timer = setTimeout(look, ms).unref()
  }

  async function look(): Promise<void> {
    // So that nobody schedules another look meanwhile.
    due = 0
    try {
      await rooms.look()
      await inParts(listening, lookAtListeners)
      await inParts(keys, part => lookAtKeys(ports, part))
    } catch {
      // The next look may succeed.
    }
    due = Infinity
    if (!rooms.isEmpty()) schedule()
  }

  async function lookAtListeners(part: string[]): Promise<void> {
    const now = ports.time.wall()
    type Row = { kind: 'attempt' | 'answer' | 'left'; webhook_id: string; attempt_id: string }
    const values = [now, now + RECONNECT_TIME, ...part]
    for (const row of await ports.database.query<Row>(listenersOf(part), values)) {
      if (row.kind === 'answer') signals.set(answerTo(row.attempt_id))
      else if (row.kind === 'left') signals.set(leftBy(row.webhook_id))
      else if (signals.set(attemptFor(row.webhook_id)) && !attempts.has(row.attempt_id)) notice()
    }
  }

  return {
    /** Looks for these things too, until the returned function is called. */
    join({ room, listens, attempt_id, isElsewhere, key_id }: Watched): () => void {
      const leave = [
        rooms.join(room),
        listens && add(listening, room),
        attempt_id && add(attempts, attempt_id),
        isElsewhere && add(elsewhere, room),
        key_id && add(keys, key_id),
      ]
      schedule()
      return () => {
        for (const stop of leave) if (stop) stop()
      }
    },
  }
}

/** The rooms for which requests wait, each with a marker of what the latest look found. */
function createRooms({ database, time, signals }: WatchPorts, notice: () => void) {
  const rooms = bag()
  let markers = new Map<string, string>()
  let from = ''
  /** Rooms whose signal this process has set since the latest look, and rooms that had changed without a signal. */
  let touched = new Set<string>()
  let suspects = new Set<string>()
  let isLooking = false
  /** For each room the function that takes its handler away. */
  const handlers = new Map<string, () => void>()

  async function lookAt(part: string[], found: Map<string, string>, later: string) {
    const changed: string[] = []
    type Row = Record<'room' | 'seen' | 'later' | 'pending', string>
    const rows = await database.query<Row>(markersOf(part), [from, later, ...part])
    for (const { room, seen, later, pending } of rows) {
      found.set(room, `${later} ${pending}`)
      if (markers.get(room) !== `${seen} ${pending}`) changed.push(room)
    }
    isLooking = true
    // A room without a marker may have changed since a request began to wait.
    for (const room of changed) signals.set(changedIn(room))
    isLooking = false
    for (const room of part) if (!found.has(room)) signals.set(ended(room))
    return changed.filter(room => markers.has(room))
  }

  return {
    isEmpty: () => rooms.size === 0,
    join(room: string): () => void {
      const leave = add(rooms, room)
      // One handler for each room: hundreds may wait for it, and it may change thousands of times.
      if (!handlers.has(room))
        handlers.set(
          room,
          signals.on([changedIn(room)], () => isLooking || touched.add(room)),
        )
      return () => {
        leave()
        if (rooms.has(room)) return
        handlers.get(room)?.()
        handlers.delete(room)
      }
    },
    async look(): Promise<void> {
      // The signal of a room may have come after the look that saw the change.
      if ([...suspects].some(room => !touched.has(room))) notice()
      const own = touched
      touched = new Set()
      suspects = new Set()
      const later = idFloor(time.wall() - LONGEST_COMMIT)
      const found = new Map<string, string>()
      await inParts(rooms, async part => {
        for (const room of await lookAt(part, found, later)) if (!own.has(room)) suspects.add(room)
      })
      from = later
      markers = found
    },
  }
}

async function lookAtKeys({ database, signals }: WatchPorts, part: string[]): Promise<void> {
  const rows = await database.query<{ key_id: string }>(livingKeysOf(part), part)
  const living = new Set(rows.map(({ key_id }) => key_id))
  for (const key_id of part) if (!living.has(key_id)) signals.set(revoked(key_id))
}

/** The number of requests that wait for each name. */
type Bag = Map<string, number>
const bag = (): Bag => new Map()

function add(bag: Bag, name: string): () => void {
  bag.set(name, (bag.get(name) ?? 0) + 1)
  return () => {
    const left = (bag.get(name) ?? 0) - 1
    if (left > 0) bag.set(name, left)
    else bag.delete(name)
  }
}

/** One query after the other. */
async function inParts(bag: Bag, query: (part: string[]) => Promise<void>): Promise<void> {
  const names = [...bag.keys()]
  for (let i = 0; i < names.length; i += AT_ONCE) await query(padded(names.slice(i, i + AT_ONCE)))
}
