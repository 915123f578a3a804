/** The checks of the account's webhooks. */

import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { isIP } from 'node:net'
import tls from 'node:tls'
import { isListenerAddress, NOBODY_LISTENS } from '../pay/webhooks/listener.ts'
import { type Check, ok, warn } from './check.ts'
import { type Body, nameOf, type Service } from './running-service.ts'

export async function* checkWebhooks(service: Service): AsyncGenerator<Check> {
  const { results } = await service.ask('GET', '/v1/webhooks')
  const active: Body[] = results.filter(({ status }: Body) => status === 'ACTIVE')
  if (active.length === 0)
    yield warn(
      'webhooks',
      'There is no active webhook.',
      'farthing listen --forward-to http://localhost:4000/webhooks',
    )
  for (const [address, same] of Map.groupBy(
    active,
    ({ callback_url }) => new URL(callback_url).href,
  ))
    if (same.length > 1)
      yield warn(
        'webhooks',
        `${same.length} active webhooks have the address ${address}: it gets each message ${same.length} times, signed with different keys. Delete all but one: ${same.map(({ external_id }) => external_id).join(', ')}.`,
        `curl -X DELETE ${service.url}/v1/webhooks/${same[0]?.external_id} -H "Authorization: Bearer $FARTHING_API_KEY"`,
      )
  for (const webhook of active) yield await checkWebhook(service, webhook)
}

const LAST = 10

/** Its name and certificate, and what its receiver answered to the last messages. */
async function checkWebhook(service: Service, webhook: Body): Promise<Check> {
  const { external_id, callback_url } = webhook
  const name = nameOf(webhook)
  const path = `/v1/webhooks/${external_id}/messages?display_size=${LAST}`
  const { results } = await service.ask('GET', path)
  const failed = results.filter((each: Body) => each.last_delivery_status === 'FAILED')
  const [newest] = failed
  const isAlone = (message: Body) => message?.latest_attempt?.result === NOBODY_LISTENS
  if (isAlone(results[0]))
    return warn(
      'webhooks',
      `${name}: nobody was listening to ${failed.filter(isAlone).length} of the last ${results.length} messages.`,
      `farthing listen --name ${name} --missed`,
    )
  if (newest && newest === results[0])
    return warn(
      'webhooks',
      `${name}: ${failed.length} of the last ${results.length} messages failed, the newest with "${newest.latest_attempt?.result ?? 'no attempt'}".`,
      `farthing verify --message ${newest.webhook_message_id} --computed HEX`,
    )
  const problem = await problemOf(callback_url)
  if (problem) return warn('webhooks', `${name}: ${problem}.`)
  const count = results.length === 0 ? 'no message yet' : 'the newest message was delivered'
  return ok('webhooks', `${name}: ${count}.`)
}

/** What this machine finds wrong with an address; the service may see another network. */
async function problemOf(address: string): Promise<string | undefined> {
  if (isListenerAddress(address)) return undefined
  const { protocol, hostname, port } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (!(await lookup(host).catch(() => undefined)))
    return `the name ${hostname} is not known on this machine`
  return protocol === 'https:' ? certificateProblem(host, Number(port || 443)) : undefined
}

const HANDSHAKE_MS = 2_000
const SOON_MS = 7 * 24 * 60 * 60 * 1000

/** undefined also if the receiver cannot be reached from here. */
async function certificateProblem(host: string, port: number): Promise<string | undefined> {
  const servername = isIP(host) ? {} : { servername: host }
  const socket = tls.connect({ host, port, ...servername, rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(HANDSHAKE_MS) })
    const { valid_to } = socket.getPeerCertificate()
    if (!socket.authorized)
      return `its certificate is not accepted on this machine (${socket.authorizationError})`
    if (Date.parse(valid_to) - Date.now() < SOON_MS) return `its certificate expires on ${valid_to}`
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
  return undefined
}
