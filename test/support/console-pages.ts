import assert from 'node:assert/strict'
import type { Body, Client } from './client.ts'
import type { Shelf } from './console-states.ts'
import { ask } from './control.ts'
import type { Service } from './service.ts'

/** Returns a function from the path of a page to an address at which the page has content. Control must be on. */
export async function addressesOf(
  service: Service,
  api: Client,
  { shelf, agreement }: { shelf: Shelf; agreement: Body },
): Promise<(path: string) => string> {
  const requests = (await ask(service, api, 'requests')).body.results
  const ids: Record<string, string> = {
    payment_id: shelf.declined.payment_id,
    agreement_id: agreement.agreement_id,
    webhook_id: shelf.archive.external_id,
    message_id: shelf.failed[0]?.webhook_message_id,
    exchange_id: requests.at(-1).request_id,
  }
  return path => {
    if (path === 'signature') return `signature?message=${ids.message_id}`
    return path.replace(/\{(\w+)\}/, (_, name) => {
      assert.ok(ids[name], `give addressesOf an example of ${name}`)
      return ids[name]
    })
  }
}
