import { setTimeout } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'

/** Milliseconds. */
export const LONGEST_WAIT = 10_000
const LOOK_EVERY = 100

/**
 * Looks until something is found, `wait` milliseconds are over, the client has left, or `stopped`. Returns what the
 * last look found.
 */
export async function waitFor<Found>(
  { raw }: FastifyRequest,
  { wait, stopped }: { wait: number; stopped: () => boolean },
  look: () => Promise<Found[]>,
): Promise<Found[]> {
  for (let left = wait; ; left -= LOOK_EVERY) {
    const found = await look()
    if (found.length > 0 || left <= 0 || raw.socket.destroyed || stopped()) return found
    await setTimeout(Math.min(LOOK_EVERY, left))
  }
}
