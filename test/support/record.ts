/** The record of requests and attempts, as tests look at it. */
import type { Exchange } from '../../src/tools/record/exchange.ts'
import { byBeginning, type ExchangeFilter, findExchanges } from '../../src/tools/record/store.ts'
import type { Service } from './service.ts'

type Recording = Pick<Service, 'apps' | 'database'>

/** Writes what waits to be written. */
export async function flush({ apps }: Pick<Service, 'apps'>): Promise<void> {
  for (const { recorder } of apps) await recorder?.flush()
}

/** All exchanges of a room, or those that match, in the order in which they began. */
export async function recorded(
  service: Recording,
  room: string,
  filter: ExchangeFilter = {},
): Promise<Exchange[]> {
  await flush(service)
  const part = { limit: 20_000, order: 'oldest' } as const
  return (await findExchanges(service.database, room, filter, part)).sort(byBeginning)
}
