/** A budget in bytes. An account may have as much as it leaves free: alone half, and there is always some for another. */
export type Shares = {
  hasRoom(account: string, bytes: number): boolean
  /** Adds bytes of the account, or takes them away where `bytes` is below zero. */
  add(account: string, bytes: number): void
}

export function createShares(most: number): Shares {
  let total = 0
  const accounts = new Map<string, number>()
  return {
    hasRoom: (account, bytes) => (accounts.get(account) ?? 0) + bytes <= most - total,
    add(account, bytes) {
      total += bytes
      const all = (accounts.get(account) ?? 0) + bytes
      if (all > 0) accounts.set(account, all)
      else accounts.delete(account)
    },
  }
}
