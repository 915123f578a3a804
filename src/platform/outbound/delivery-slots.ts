/** The slots of deliveries. Each belongs to an account, so that the hosts of one account keep no other waiting. */
import { DELIVERIES, DELIVERIES_OF_ACCOUNT, DELIVERIES_TO_HOST } from '../../core/budgets.ts'
import { createSlots, type ReleaseSlot } from '../../core/slots.ts'

/** Takes a slot of the account at the host, and then one of the account, at once or within `ms` milliseconds. */
export function createDeliverySlots() {
  const takeAtHost = createSlots(DELIVERIES_TO_HOST, Infinity)
  const takeOfAccount = createSlots(DELIVERIES_OF_ACCOUNT, DELIVERIES)

  function takeBoth(owner: string, ms: number, atHost: ReleaseSlot) {
    const ofAccount = takeOfAccount(owner, ms)
    const both = (release: ReleaseSlot | undefined) => {
      if (!release) return void atHost()
      return () => {
        atHost()
        release()
      }
    }
    return ofAccount instanceof Promise ? ofAccount.then(both) : both(ofAccount)
  }

  return (owner: string, host: string, ms: number) => {
    const atHost = takeAtHost(`${host} ${owner}`, ms)
    if (!(atHost instanceof Promise)) return takeBoth(owner, ms, atHost)
    const began = performance.now()
    return atHost.then(
      slot => slot && takeBoth(owner, Math.max(1, ms - (performance.now() - began)), slot),
    )
  }
}
