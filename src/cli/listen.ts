import { hostname, userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { idFloor } from '../core/ids.ts'
import { hint } from '../core/invocation.ts'
import { DAY } from '../core/time.ts'
import { labelOf, listenerAddress, NOBODY_LISTENS } from '../pay/webhooks/listener.ts'
import { type EventType, eventTypes, eventTypesIn } from '../pay/webhooks/webhook.ts'
import { CommandError, wrongUsage } from './command-error.ts'
import { defineCommand, type OptionsOf } from './define-command.ts'
import { createReceive, deliver, destinationOf } from './listen-deliver.ts'
import { note, print, printJson } from './output.ts'
import {
  accountTime,
  type Body,
  connect,
  keepAsking,
  RETRY_AFTER,
  type Service,
  type ServiceAnswer,
  serviceOptions,
} from './running-service.ts'

const options = {
  forwardTo: {
    value: '<url>',
    meaning: 'where to send each message, or a port of this machine; without it they are printed',
    parse: destinationOf,
  },
  events: {
    value: '<a,b>',
    meaning: 'only these event types (default: all)',
    values: eventTypes,
    parse: parseEvents,
    isRepeatable: true,
  },
  name: {
    value: '<name>',
    meaning: 'the name of the listener, which keeps its signing key (default: USER-MACHINE)',
  },
  header: {
    value: '<header>',
    meaning: "another header to send, as 'Name: value'",
    parse: addHeader,
    isRepeatable: true,
  },
  insecure: { meaning: 'accept any certificate of the receiver' },
  missed: { meaning: 'begin with messages of the last day that nobody received' },
  bodies: { meaning: 'show each message and the response of the receiver' },
  printSigningKey: { meaning: 'print the signing key and end' },
  forget: { meaning: 'delete the webhook of a listener, which ends if it runs' },
  ...serviceOptions,
} as const
type ListenOptions = OptionsOf<typeof options>

export const listen = defineCommand({
  summary: 'receive webhooks here, wherever Farthing runs',
  more: 'The bytes and the signature are those of the real delivery.',
  examples: [
    'farthing listen --forward-to http://localhost:4000/webhooks',
    'export SIGNING_KEY=$(farthing listen --print-signing-key)',
    'farthing listen --json | jq -r .event_type',
  ],
  options,
  async run({ config, options }) {
    refuseWithoutEffect(options)
    const receive = createReceive(options)
    const service = await connect(config(), options)
    if (options.forget) return forget(service, options)
    const webhook = readWebhook(await register(service, options), service)
    const listener: Listener = { service, options, webhook }
    if (options.printSigningKey) {
      const { signing_key } = webhook
      if (options.json) printJson({ signing_key })
      else print(signing_key)
      if (!webhook.other) await service.request('DELETE', listenerPath(listener))
      return
    }
    stopWithSignals(listener)
    const first = await service.ask('GET', `${listenerPath(listener)}/next${AT_ONCE}`)
    sayReady(listener)
    await warnOfSecond(listener)
    const handle = (offer: Body) =>
      void deliver({ service, path: listenerPath(listener), receive, options }, offer)
    if (first.attempt) handle(first.attempt)
    if (options.missed)
      void sendMissed(service, webhook.webhook_id).catch(error =>
        note(`The missed messages were not sent: ${error.message}`),
      )
    return keepListening(listener, handle)
  },
})

function parseEvents(text: string, before: EventType[] = []): EventType[] {
  const names = text.split(',').map(type => type.trim())
  const types = eventTypesIn(names, 'specification') ?? eventTypesIn(names, 'govuk-pay')
  if (types) return [...new Set([...before, ...types])]
  throw wrongUsage(`It must be some of ${eventTypes.join(', ')}.`)
}

/** The characters that Node sends: in a name letters, digits, _ and -; in a value visible Latin-1, spaces and tabs. */
function addHeader(text: string, headers: [string, string][] = []): [string, string][] {
  const [, name = '', value = ''] = /^([\w-]+):([\t\x20-\x7e\x80-\xff]*)$/.exec(text) ?? []
  if (name) return [...headers, [name, value.trimStart()]]
  throw wrongUsage("It must be 'Name: value', in characters of Latin-1.")
}

/** Milliseconds. */
const LAST_REQUEST = 1_000
const AT_ONCE = '?wait=0'
/** Milliseconds that a request waits for an attempt after one failed: many proxies end requests of 15 seconds. */
const SHORT_WAIT = '?wait=14000'

/** `webhook`: its latest webhook. A reset, or a restart of a service in memory, gives the listener another webhook. */
type Listener = {
  service: Service
  options: ListenOptions
  webhook: Body
  /** Set once the service is told that nobody listens any more. */
  stopping?: true
}

const listenerPath = ({ webhook }: Listener): string => `/control/listeners/${webhook.webhook_id}`

/** Options with which the command receives no message. */
const ENDING = { forget: '--forget', printSigningKey: '--print-signing-key' } as const

function refuseWithoutEffect(options: ListenOptions): void {
  for (const [only, written] of Object.entries(ENDING)) {
    const taken = [only, 'name', ...Object.keys(serviceOptions)]
    if (only in options && Object.keys(options).some(name => !taken.includes(name)))
      throw wrongUsage(`${written} takes no option but --name and those of the service`)
  }
  if (options.forwardTo === undefined && (options.header || options.insecure))
    throw wrongUsage('--header and --insecure have an effect only with --forward-to')
}

const listenerName = ({ name }: ListenOptions): string => name ?? `${userName()}-${hostname()}`

/** In a container the user may have a number only. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.()}`
  }
}

/** Deletes the webhook, so that no more messages are written for it. */
async function forget(service: Service, options: ListenOptions): Promise<void> {
  const name = listenerName(options)
  const { results } = await service.askWebhooks('GET')
  const found = results.find(
    ({ callback_url, status }: Body) =>
      status === 'ACTIVE' && callback_url === listenerAddress(labelOf(name)),
  )
  if (!found) throw new CommandError(`the account has no active listener "${name}"`)
  await service.askWebhooks('DELETE', `/${found.external_id}`)
  if (options.json) printJson({ forgotten: found.external_id })
  else print(`"${name}" is forgotten: it gets no more messages until you listen again.`)
}

function register(service: Service, options: ListenOptions): Promise<ServiceAnswer> {
  // --print-signing-key leaves the event types as they are.
  const { events = options.printSigningKey ? undefined : null } = options
  const json = { name: listenerName(options), events }
  return service.request('POST', '/control/listeners', { json })
}

function readWebhook(answer: ServiceAnswer, { url }: Service): Body {
  if (answer.status === 404)
    throw new CommandError(
      `${url} does not support listeners: FARTHING_CONSOLE is false there, or it is an older version`,
    )
  if (answer.refused) throw answer.refused
  return answer.body
}

function sayReady(listener: Listener): void {
  const { options, webhook } = listener
  if (webhook.other)
    note(
      'Another listener has this name: each message goes to only one of the two. Choose another name with --name.',
    )
  if (options.json) return void printReady(listener)
  const { forwardTo } = options
  const what = forwardTo ? `Forwarding to ${forwardTo}` : 'Printing messages'
  const key = `Signing key: ${webhook.signing_key}  (the same at every start until the account is reset; --print-signing-key prints only the key)`
  print(`Ready. ${what} as "${listenerName(options)}"\n${key}`)
}

/** The address with localhost in place of 127.0.0.1 and [::1], so that equal addresses compare equal. */
const onThisMachine = (url: string): string | undefined =>
  URL.parse(url)?.href.replace(/^(https?:\/\/)(?:127\.0\.0\.1|\[::1\])(?=[:/])/, '$1localhost')

/** A receiver that is registered too gets each message twice. If the look-up fails, the listener goes on. */
async function warnOfSecond({ service, options: { forwardTo }, webhook }: Listener): Promise<void> {
  if (forwardTo === undefined) return
  const to = onThisMachine(forwardTo)
  const found = await service.askWebhooks('GET').catch(() => undefined)
  const second = found?.results?.find(
    ({ external_id, status, callback_url }: Body) =>
      external_id !== webhook.webhook_id &&
      status === 'ACTIVE' &&
      onThisMachine(callback_url) === to,
  )
  if (second)
    note(
      `The webhook ${second.external_id} has this address too: your receiver gets each message twice, signed with two keys.`,
    )
}

const printReady = ({ options: { forwardTo }, webhook: { webhook_id } }: Listener): void =>
  printJson({ ready: true, forward_to: forwardTo ?? null, webhook_id })

/** Repeats `ask` while the service, or a proxy before it, responds with an error of 500 or above. */
async function untilServed(listener: Listener, ask: () => Promise<ServiceAnswer>) {
  for (;;) {
    const answer = await ask()
    if (answer.status < 500 || listener.stopping) return answer
    await sleep(RETRY_AFTER)
  }
}

async function renew(listener: Listener): Promise<void> {
  const { service, options, webhook: before } = listener
  const answer = await untilServed(listener, () => register(service, options))
  listener.webhook = readWebhook(answer, service)
  const { webhook_id, signing_key } = listener.webhook
  if (signing_key !== before.signing_key)
    note(
      `The account was reset, or was in the memory of a service that has restarted. The new signing key: ${signing_key}`,
    )
  if (options.json && webhook_id !== before.webhook_id) printReady(listener)
}

/** Requests the next attempt as soon as it has received one, so that a slow receiver delays no other message. */
function keepListening(listener: Listener, handle: (offer: Body) => void): Promise<never> {
  const { service } = listener
  let query = ''
  return keepAsking(async wasAway => {
    if (listener.stopping) return sleep(LAST_REQUEST)
    const path = `${listenerPath(listener)}/next`
    if (wasAway) query = AT_ONCE
    const { status, body, refused } = await untilServed(listener, async () => {
      const next = await service.request('GET', path + query)
      query = next.status >= 500 ? AT_ONCE : query && SHORT_WAIT
      return next
    })
    if (status === 404) {
      await renew(listener)
      return sleep(RETRY_AFTER)
    }
    if (status === 409)
      throw new CommandError(
        hint`the webhook of this listener was deleted, so it gets no more messages. Start farthing listen again to receive them`,
      )
    if (refused && status < 500) throw refused
    if (body?.attempt) handle(body.attempt)
  })
}

/** Tells the service that nobody listens any more, and ends the process with code 0. */
function stopWithSignals(listener: Listener): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (listener.stopping) return
      listener.stopping = true
      const last = { signal: AbortSignal.timeout(LAST_REQUEST) }
      void listener.service
        .request('DELETE', listenerPath(listener), last)
        .catch(() => {})
        .finally(() => process.exit(0))
    })
}

/** Sends the messages of the account's last day that nobody received, oldest first. */
async function sendMissed(service: Service, webhook_id: string): Promise<void> {
  const now = await accountTime(service)
  const since = now - DAY
  const sent = new Set<string>()
  let after = idFloor(since)
  for (;;) {
    const query = new URLSearchParams({ delivery: 'FAILED', after })
    const { results, next } = await service.ask('GET', `/control/messages?${query}`)
    const missed = results.filter(
      (message: Body) =>
        message.webhook_id === webhook_id &&
        !sent.has(message.message_id) &&
        !message.accepted_by_hand &&
        // The newest attempt is first. A listener that was suspended did not answer.
        [NOBODY_LISTENS, 'timeout'].includes(message.attempts[0]?.result) &&
        Date.parse(message.at) > since,
    )
    for (const { message_id } of missed) {
      sent.add(message_id)
      const path = `/control/messages/${message_id}/send`
      const { refused } = await service.request('POST', path, { json: {} })
      if (refused) note(refused.message)
    }
    // A page may end at its limit of bytes, so a page with few messages need not be the last.
    if (results.length === 0 || Date.parse(results.at(-1).at) > now) return
    after = next
  }
}
