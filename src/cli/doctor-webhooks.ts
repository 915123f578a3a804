/** The checks of the account's webhooks. */

import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, isIP } from 'node:net'
import tls from 'node:tls'
import { asTypedHere, hint, shellWord } from '../core/invocation.ts'
import { DAY } from '../core/time.ts'
import { isListenerAddress, NOBODY_LISTENS } from '../pay/webhooks/listener.ts'
import { webhookName } from '../pay/webhooks/webhook.ts'
import { causeOf } from '../tools/explain/causes.ts'
import { isSignatureRefusal } from '../tools/explain/wrong-signature.ts'
import { CommandError, EXIT } from './command-error.ts'
import { type Check, checksOf } from './doctor-check.ts'
import type { Body, Service } from './running-service.ts'

const { ok, warn } = checksOf('webhooks')

export async function* checkWebhooks(service: Service): AsyncGenerator<Check> {
  const found = await service.askWebhooks('GET').catch((error: Error) => error)
  if (found instanceof CommandError && found.exitCode === EXIT.failed)
    return yield warn(`${found.message}.`)
  if (found instanceof Error) throw found
  const active: Body[] = found.results.filter(({ status }: Body) => status === 'ACTIVE')
  if (active.length === 0)
    yield warn(
      'There is no active webhook.',
      asTypedHere('farthing listen --forward-to http://localhost:4000/webhooks'),
    )
  for (const webhook of active) yield await checkWebhook(service, webhook)
}

const LAST = 10

/** Whether the last messages were delivered or, if the newest was, whether this machine reaches the receiver. */
async function checkWebhook(service: Service, webhook: Body): Promise<Check> {
  const { external_id, callback_url } = webhook
  const name = webhookName(webhook)
  const path = `/${external_id}/messages?display_size=${LAST}`
  const { results } = await service.askWebhooks('GET', path)
  const [newest] = results
  const failed = await failedAmong(service, results)
  if (failed.includes(newest)) {
    const alone = failed.filter(({ latest_attempt }) => latest_attempt?.result === NOBODY_LISTENS)
    if (alone.includes(newest))
      return warn(
        `${name}: nobody was listening to ${alone.length} of the last ${results.length} messages.`,
        hint`farthing listen --name ${shellWord(name)} --missed`,
      )
    const counted = `${failed.length} of the last ${results.length} messages failed`
    const { cause, command } = adviceFor(newest)
    return warn(`${name}: ${counted}. ${cause}`, command)
  }
  const isListener = isListenerAddress(callback_url)
  const problem = isListener ? undefined : await problemOf(callback_url)
  if (problem) return warn(`${name}: ${problem}.`)
  if (!newest && isListener)
    return warn(
      `${name}: there is no message yet, so nothing shows that it is listening.`,
      asTypedHere('farthing trigger card_payment_succeeded'),
    )
  const delivered = newest?.last_delivery_status === 'PENDING' ? 'is on its way' : 'was delivered'
  const state = newest ? `the newest message ${delivered}` : 'there is no message yet'
  const reached = isListener ? '' : ', and its address accepts connections from this machine'
  return ok(`${name}: ${state}${reached}.`)
}

/** The messages that failed, without those that a receiver has since accepted by hand. */
async function failedAmong(service: Service, messages: Body[]): Promise<Body[]> {
  const failed = messages.filter(message => message.last_delivery_status === 'FAILED')
  const isAccepted = await Promise.all(
    failed.map(async ({ webhook_message_id }) => {
      const path = `/control/messages?message_id=${webhook_message_id}`
      // Without the console the service has no such path, and nothing is sent by hand.
      const { body } = await service.request('GET', path)
      return body.results?.[0]?.accepted_by_hand === true
    }),
  )
  return failed.filter((_, i) => !isAccepted[i])
}

/** The sentence about the newest message, and the command that helps with its cause. */
function adviceFor(message: Body): { cause: string; command?: string } {
  const { status_code = null, result } = message.latest_attempt ?? {}
  if (result === undefined) return { cause: 'The newest was never sent.' }
  const cause = causeOf({ status: status_code, result }) ?? `The newest ended with "${result}".`
  if (isSignatureRefusal(status_code))
    return { cause, command: hint`farthing verify --ask ${message.webhook_message_id}` }
  return { cause }
}

const HANDSHAKE_MS = 2_000
const SOON_MS = 7 * DAY

/** The problem that this machine has with an address, if any. The service may see another network. */
async function problemOf(address: string): Promise<string | undefined> {
  const { protocol, hostname, port } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (!(await lookup(host).catch(() => undefined)))
    return `the name ${hostname} is not known on this machine`
  const isSecure = protocol === 'https:'
  const to = { host, port: Number(port || (isSecure ? 443 : 80)) }
  const named = isIP(host) ? to : { ...to, servername: host }
  const socket = isSecure ? tls.connect({ ...named, rejectUnauthorized: false }) : connect(to)
  try {
    await once(socket, isSecure ? 'secureConnect' : 'connect', {
      signal: AbortSignal.timeout(HANDSHAKE_MS),
    })
    return socket instanceof tls.TLSSocket ? certificateProblem(socket) : undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'ABORT_ERR' ? 'no answer within 2 seconds' : (code ?? message)
    return `its address accepts no connection from this machine (${reason})`
  } finally {
    socket.destroy()
  }
}

function certificateProblem(socket: tls.TLSSocket): string | undefined {
  if (!socket.authorized)
    return `its certificate is not accepted on this machine (${socket.authorizationError})`
  const { valid_to } = socket.getPeerCertificate()
  const endsSoon = Date.parse(valid_to) - Date.now() < SOON_MS
  return endsSoon ? `its certificate expires on ${valid_to}` : undefined
}
