export type Shares = ReturnType<typeof createShares>

/** A budget in bytes. An account may hold at most as much as was free before, so an account alone gets about half. */
export function createShares(most: number, owners = new Map<string, number>()) {
  let total = 0
  return {
    hasSpace: (owner: string, bytes: number) => (owners.get(owner) ?? 0) + bytes <= most - total,
    /** Adds bytes of the account, or takes them away where `bytes` is below zero. */
    add(owner: string, bytes: number) {
      total += bytes
      const all = (owners.get(owner) ?? 0) + bytes
      if (all > 0) owners.set(owner, all)
      else owners.delete(owner)
    },
  }
}
