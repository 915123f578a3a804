import type { Socket } from 'node:net'
import type { Account } from '../../core/account.ts'
import type { Database } from '../../core/ports.ts'
import { accountOfName } from '../../platform/accounts/store.ts'

/** Milliseconds between two checks of whether the service stops or an account was reset. */
const LOOK_EVERY = 100

type Held = { account: Account; end: () => void }

type Holds = {
  /** The number of requests that are held. */
  count(): number
  /** Resolves after so many milliseconds; at once if the service stops or the account is reset or ended. */
  hold(account: Account, socket: Socket, ms: number): Promise<void>
}

/** Holds requests that a plan delays. They cost no work, and their connections are not idle. */
export function createHolds(database: Database, stopped: () => boolean): Holds {
  const held = new Set<Held>()
  let looking: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    if (stopped()) for (const { end } of held) end()
    for (const [name, group] of Map.groupBy(held, ({ account }) => account.name)) {
      // An unreachable database says nothing about the account.
      const now = await accountOfName(database, name).catch(() => group[0]?.account)
      for (const { account, end } of group) if (account.room !== now?.room) end()
    }
  }

  return {
    count: () => held.size,
    async hold(account, socket, ms) {
      if (ms === 0 || stopped()) return
      const { timeout = 0 } = socket
      socket.setTimeout(0)
      await new Promise<void>(resolve => {
        const timer = setTimeout(end, ms)
        const mine = { account, end }
        function end(): void {
          clearTimeout(timer)
          held.delete(mine)
          if (held.size === 0) {
            clearInterval(looking)
            looking = undefined
          }
          resolve()
        }
        held.add(mine)
        looking ??= setInterval(() => void look(), LOOK_EVERY)
      })
      socket.setTimeout(timeout)
    },
  }
}
