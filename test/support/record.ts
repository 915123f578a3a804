/** Rows for the record of requests and attempts, and functions to read it. */
import { type Exchange, type NewExchange, NO_REQUEST } from '../../src/tools/record/exchange.ts'
import type { RawRequest } from '../../src/tools/record/row.ts'
import {
  byBeginning,
  type ExchangeFilter,
  findExchanges,
  insertExchange,
} from '../../src/tools/record/store.ts'
import type { Service } from './service.ts'

/** A search as the recorder gets it. */
export const rawSearch: RawRequest = {
  kind: 'api',
  operation: 'searchPayments',
  room: 'default',
  behaviour: 'specification',
  began: 0,
  at: 0,
  ms: 1,
  method: 'GET',
  url: '/v1/payments',
  rawHeaders: [],
  requestBody: undefined,
  status: 200,
  responseHeaders: [],
  responseBody: '{}',
  ended: 'sent',
  refusal: undefined,
  payment: undefined,
}

/** A create as the record has it. */
export const keptCreate: Exchange = {
  ...NO_REQUEST,
  exchange_id: '06h3k',
  room: 'default',
  payment_id: null,
  kind: 'api',
  operation: 'createPayment',
  status: 201,
  began: 0,
  at: 0,
  method: 'POST',
  path: '/v1/payments',
}

/** Inserts a create into the record of this room, at this time of the machine in milliseconds and with these fields. */
export function insertKept(room: string, at: number, fields: Partial<NewExchange> = {}) {
  const { exchange_id: _, ...create } = keptCreate
  return insertExchange({ ...create, room, began: at, at, ...fields })
}

type Recording = Pick<Service, 'apps' | 'database'>

export async function flush({ apps }: Pick<Service, 'apps'>): Promise<void> {
  for (const { recorder } of apps) await recorder?.flush()
}

/** The exchanges of a room that match, in the order in which they began. */
export async function recorded(service: Recording, room: string, filter: ExchangeFilter = {}) {
  await flush(service)
  const part = { limit: 20_000, order: 'oldest' } as const
  return (await findExchanges(service.database, room, filter, part)).sort(byBeginning)
}
