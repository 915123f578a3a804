import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WaitError } from './errors.ts'
import { HostPromise, onlyOnce, sleep } from './host-globals.ts'
import { type Call, headersOf, readText } from './http.ts'
import type { Message, ReceiveOptions, Receiver } from './public.d.ts'
import {
  check,
  checkFields,
  checkOptions,
  duration,
  milliseconds,
  type Rule,
  text,
  unchecked,
  whole,
} from './values.ts'
import { startWait } from './waits.ts'

type MessageFilter = Parameters<Receiver['next']>[0] & object

const receiveRules: Record<keyof ReceiveOptions, Rule> = {
  events: unchecked,
  answer: unchecked, // checked by checkAnswer
  host: text,
  port: whole(0, 65_535),
  url: text,
}
/** Tells the check that a test decides on the receiver's responses. */
const OF_A_TEST = { 'Farthing-Receiver': 'test' }

/** Milliseconds between two looks at the messages that arrived. */
const POLL_INTERVAL = 5

const wantedRules: Record<keyof MessageFilter, Rule> = { event: text, payment_id: text }

/** Registers a server as a webhook. A wait that fails calls `keep`, and adds the line that it returns to its error. */
export async function startReceiver(call: Call, keep: () => string, options: ReceiveOptions) {
  checkOptions('receive', options, receiveRules)
  let { answer: reply = 200 } = options
  checkAnswer('receive: answer', reply)
  let registering: Promise<{ external_id: string; signing_key: string }> | undefined
  const inbox = createInbox()

  async function respond(request: IncomingMessage): Promise<number> {
    const arriving = await readMessage(request).catch(() => undefined)
    // A message may come before the response that has its signing key.
    const webhook = await registering?.catch(() => undefined)
    if (!arriving || !webhook) return 400
    if (!isSigned(arriving, webhook.signing_key)) {
      inbox.addForgery(arriving)
      return 401
    }
    const message = inbox.add(arriving)
    try {
      const right = await (typeof reply === 'function' ? reply(message) : reply)
      checkReply('answer', right)
      if (typeof right === 'number') return right
      if (right.delay) await sleep(milliseconds(right.delay), undefined, { ref: false })
      return right.status
    } catch (error) {
      inbox.fail(error)
      return 500
    }
  }

  const { address, close } = await listen(options, respond)
  const { events: subscriptions, url = address } = options
  registering = call('POST', '/control/webhooks', { callback_url: url, subscriptions })
  const { external_id, signing_key } = await registering.catch(async error => {
    await close()
    throw error
  })

  const receiver: Receiver = {
    url,
    signingKey: signing_key,
    async next(which = {}, waitOptions = {}) {
      checkFields('next', which, wantedRules)
      const { signal, left, duration } = startWait('next', waitOptions)
      for (;;) {
        if (signal?.aborted) throw signal.reason
        const message = inbox.take(which)
        if (message) return message
        if (left() === 0)
          throw new WaitError(`waited ${duration} for ${inbox.explain(which)}${keep()}`)
        await sleep(POLL_INTERVAL)
      }
    },
    all: inbox.all,
    answer(next = 200) {
      checkAnswer('answer', next)
      reply = next
    },
    close: onlyOnce(async () => {
      // A reset or the end of the account may have removed it.
      await call('DELETE', `/control/webhooks/${external_id}`).catch(() => {})
      await close()
    }),
    [Symbol.asyncDispose]: () => receiver.close(),
  }
  return receiver
}

type Arriving = Omit<Message, 'attempt'>

const described = ({ event_type, payment_id }: Arriving) => `${event_type} of ${payment_id}`

/** The messages that arrived and, until the test asks for messages, the errors of others. */
function createInbox() {
  const arrived: Message[] = []
  const taken = new Set<Message>()
  const forgeries: WaitError[] = []
  let failure: { error: unknown } | undefined
  function all(): Message[] {
    const forgery = forgeries.shift()
    if (forgery) throw forgery
    return [...arrived]
  }
  return {
    add(message: Arriving): Message {
      const before = arrived.filter(({ message_id }) => message_id === message.message_id)
      const counted = { ...message, attempt: before.length + 1 }
      arrived.push(counted)
      return counted
    },
    addForgery(message: Arriving): void {
      const what = `${described(message)} came with a wrong signature and was answered 401`
      forgeries.push(new WaitError(what))
    },
    fail(error: unknown): void {
      failure ??= { error }
    },
    all,
    take({ event, payment_id }: MessageFilter): Message | undefined {
      const messages = all()
      if (failure) {
        const { error } = failure
        failure = undefined
        throw error
      }
      const found = messages.find(
        message =>
          !taken.has(message) &&
          (event === undefined || message.event_type === event) &&
          (payment_id === undefined || message.payment_id === payment_id),
      )
      if (found) taken.add(found)
      return found
    },
    explain(which: MessageFilter): string {
      const wanted = Object.values(which).join(' of ') || 'a message'
      const came = arrived.map(
        message => `${described(message)}${taken.has(message) ? ' (returned before)' : ''}`,
      )
      return `${wanted}. ${came.length > 0 ? `There came: ${came.join(', ')}` : 'No message came'}`
    },
  }
}

async function listen(
  { port = 0, host = '127.0.0.1' }: ReceiveOptions,
  respond: (request: IncomingMessage) => Promise<number>,
): Promise<{ address: string; close(): Promise<void> }> {
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer(async (request, response) => {
    response.writeHead(await respond(request), OF_A_TEST).end()
  })
  await new HostPromise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  server.unref()
  server.on('connection', socket => socket.unref())
  return {
    address: urlOf(server.address() as AddressInfo), // it listens on a port
    async close() {
      const closed = new HostPromise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

const urlOf = ({ address, port, family }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/webhooks`

const replyStatus: Rule = [
  whole(200, 599)[0],
  'is not a status from 200 to 599 or an object with status and delay',
]

function checkReply(name: string, reply: unknown): void {
  if (typeof reply !== 'object') check(name, reply, replyStatus)
  else {
    checkOptions(name, reply, { status: replyStatus, delay: duration })
    check(`${name}: status`, (reply as { status?: unknown }).status, replyStatus)
  }
}

function checkAnswer(name: string, answer: unknown): void {
  if (typeof answer !== 'function') checkReply(name, answer)
  else if (answer.length > 1)
    throw new TypeError(
      `${name}: a function gets the message alone: message.attempt counts its attempts`,
    )
}

/** Rejects if the body is not a message. */
async function readMessage(request: IncomingMessage): Promise<Arriving> {
  const raw = await readText(request)
  const { event_type, resource_id, webhook_message_id, resource } = JSON.parse(raw)
  return {
    event_type,
    payment_id: resource_id,
    message_id: webhook_message_id,
    payment: resource,
    raw,
    headers: headersOf(request),
  }
}

function isSigned({ raw, headers }: Arriving, signingKey: string): boolean {
  const received = Buffer.from(headers['pay-signature'] ?? '')
  const { createHmac, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const right = Buffer.from(createHmac('sha256', signingKey).update(raw).digest('hex'))
  return received.length === right.length && timingSafeEqual(received, right)
}
