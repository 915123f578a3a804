/** An account in which everything that others wrote holds HTML, scripts and characters that turn text around. */

import { createNewId } from '../../src/core/ids.ts'
import { createKey } from '../../src/platform/accounts/store.ts'
import { HOSTILE, percentEncoded } from '../faults/hostile-values.ts'
import { createClient } from './client.ts'
import { startReceiver } from './receiver.ts'
import type { Service } from './service.ts'

export const ALL_HOSTILE = HOSTILE.join(' ')
/** The API takes no <, > and | in texts. */
const ACCEPTED = ALL_HOSTILE.replace(/[<>|]/g, '')

/** The service must allow callbacks to localhost (`receiving`). */
export async function fillWithHostile(service: Service) {
  const { database, time, baseUrls } = service
  const name = '<b>"Team\' & co'
  const { key } = await createKey({ database, time, newId: createNewId() }, name)
  const api = createClient(baseUrls, key)
  const receiver = await startReceiver({
    onRequest: ({ socket }) =>
      socket.end(
        `HTTP/1.1 500 ${HOSTILE[0]}\r\nX-Evil: ${HOSTILE[1]}\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n${ALL_HOSTILE}`,
      ),
  })
  const description = ALL_HOSTILE.slice(0, 250)
  await api.post('/v1/webhooks', { callback_url: receiver.url, description })
  const { payment_id } = await api.createPayment(
    {
      reference: ACCEPTED,
      description: ACCEPTED.slice(0, 255),
      metadata: { [ACCEPTED.slice(0, 30)]: ACCEPTED.slice(0, 90) },
    },
    { 'User-Agent': HOSTILE[0] ?? '' },
  )
  await api.post(`/v1/payments/${payment_id}/cancel`)
  const encoded = percentEncoded(ALL_HOSTILE)
  await api.get(`/v1/payments/${encoded}?${encoded}=${encoded}`)
  await api.get(`/v1/payments?${encoded}=1&reference=${encoded}`)
  await api.request('POST', '/v1/payments', {
    body: ALL_HOSTILE,
    headers: { 'Idempotency-Key': HOSTILE[1] ?? '', Accept: HOSTILE[2] ?? '' },
  })
  for (const { recorder } of service.apps) await recorder?.flush()
  const [account] = await database.query<{ room: string }>(
    'select room from accounts where name = $1',
    [name],
  )
  return { api, room: account?.room ?? '', close: () => receiver.close() }
}
