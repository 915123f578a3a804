export type Shares = ReturnType<typeof createShares>

/**
 * A budget in bytes for all accounts. A reservation is refused if its account would then hold more than was free before,
 * so an account alone gets about half.
 */
export function createShares(most: number) {
  let total = 0
  const rooms = new Map<string, number>()
  return {
    hasSpace: (room: string, bytes: number) => (rooms.get(room) ?? 0) + bytes <= most - total,
    /** Adds bytes of the room, or takes them away where `bytes` is below zero. */
    add(room: string, bytes: number) {
      total += bytes
      const all = (rooms.get(room) ?? 0) + bytes
      if (all > 0) rooms.set(room, all)
      else rooms.delete(room)
    },
  }
}
