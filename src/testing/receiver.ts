import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WaitError } from './errors.ts'
import { clearTimer, HostPromise, onlyOnce, setTimer, sleep } from './host-globals.ts'
import type { Message, ReceiveOptions, Receiver, WaitOptions } from './public.d.ts'
import {
  check,
  checkFields,
  checkOptions,
  duration,
  durationText,
  milliseconds,
  oneOf,
  type Rule,
  text,
  unchecked,
  waitRules,
  whole,
} from './values.ts'

type Registration = { signingKey: string; remove(): Promise<void> }
type Arrived = Message & { attempt: number; taken: boolean }
type MessageFilter = Parameters<Receiver['next']>[0] & object

const receiveRules: Record<keyof ReceiveOptions, Rule> = {
  events: unchecked,
  as: oneOf(['govuk-pay']),
  answer: unchecked, // checked by checkAnswer
  host: text,
  port: whole(0, 65_535),
  url: text,
}
/** Tells the check that a test decides what the receiver answers. */
const OF_A_TEST = { 'Farthing-Receiver': 'test' }

const wantedRules: Record<keyof MessageFilter, Rule> = { event: text, payment_id: text }

/**
 * Starts a server and has it registered as a webhook by `register`. `keep` is called when a wait fails, and returns the
 * line that says that the account is kept, or ''.
 */
export async function startReceiver(
  options: ReceiveOptions,
  register: (url: string) => Promise<Registration>,
  keep: () => string,
): Promise<Receiver> {
  checkOptions('receive', options, receiveRules)
  let { answer: reply = 200 } = options
  checkAnswer('receive: answer', reply)
  let registration: Registration | undefined
  const inbox = createInbox()
  const waiting = new Set<() => void>()

  const look = () => {
    for (const lookAgain of [...waiting]) lookAgain()
  }
  async function respond(request: IncomingMessage): Promise<number> {
    let status = 400 // for a request that is not a message
    try {
      const message = readMessage(request, await readText(request))
      status = 401
      inbox.add(message, registration?.signingKey ?? '')
      status = 500
      return await statusFor(message)
    } catch (error) {
      if (status === 500) inbox.fail(error)
      look()
      return status
    }
  }
  async function statusFor(message: Message): Promise<number> {
    const decided = typeof reply === 'function' ? reply(message) : reply
    look()
    const right = await decided
    checkReply('answer', right)
    if (typeof right === 'number') return right
    if (right.delay) await sleep(milliseconds(right.delay))
    return right.status
  }
  const { address, close } = await listen(options, respond)
  const url = options.url ?? address
  try {
    registration = await register(url)
  } catch (error) {
    await close()
    throw error
  }

  const receiver: Receiver = {
    url,
    signingKey: registration.signingKey,
    async next(which = {}, waitOptions = {}) {
      checkFields('next', which, wantedRules)
      checkOptions('next', waitOptions, waitRules)
      const failed = (waited: string) =>
        new WaitError(`${waited} for ${explain(which, inbox.arrived)}`, keep())
      return nextOf(() => inbox.take(which), waiting, waitOptions, failed)
    },
    all: inbox.all,
    answer(next = 200) {
      checkAnswer('answer', next)
      reply = next
    },
    close: onlyOnce(async () => {
      await registration?.remove()
      await close()
    }),
    [Symbol.asyncDispose]: () => receiver.close(),
  }
  return receiver
}

/** The messages that came, and the errors that are shown in their place. */
function createInbox() {
  const arrived: Arrived[] = []
  /** One for each message with a wrong signature. `take` or `all`, whichever is called first, throws it. */
  const forgeries: WaitError[] = []
  /** The error of the function that decides. The next call of `take` throws it. */
  let failure: { error: unknown } | undefined

  function throwForgery(): void {
    const forgery = forgeries.shift()
    if (forgery) throw forgery
  }
  return {
    arrived,
    /** Throws if the signature is wrong. */
    add(message: Arrived, signingKey: string): void {
      if (isSigned(message, signingKey)) {
        message.attempt += arrived.filter(each => each.message_id === message.message_id).length
        arrived.push(message)
      } else {
        const { event_type, payment_id } = message
        const what = `${event_type} of ${payment_id}`
        const forgery = new WaitError(`${what} came with a wrong signature and was answered 401`)
        forgeries.push(forgery)
        throw forgery
      }
    },
    fail(error: unknown): void {
      failure ??= { error }
    },
    take(which: MessageFilter): Message | undefined {
      throwForgery()
      if (failure) {
        const { error } = failure
        failure = undefined
        throw error
      }
      const found = arrived.find(message => !message.taken && matches(message, which))
      if (!found) return undefined
      found.taken = true
      const { taken, ...message } = found
      return message
    },
    all(): Message[] {
      throwForgery()
      return arrived.map(({ taken, ...message }) => message)
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

function checkReply(name: string, reply: unknown): void {
  const status: Rule = [
    whole(200, 599)[0],
    'is not a status from 200 to 599 or an object with status and delay',
  ]
  if (typeof reply !== 'object') check(name, reply, status)
  else {
    checkOptions(name, reply, { status, delay: duration })
    check(`${name}: status`, (reply as { status?: unknown }).status, status)
  }
}

function checkAnswer(name: string, answer: unknown): void {
  if (typeof answer !== 'function') checkReply(name, answer)
}

const matches = (message: Message, { event, payment_id }: MessageFilter): boolean =>
  (event === undefined || message.event_type === event) &&
  (payment_id === undefined || message.payment_id === payment_id)

function nextOf(
  take: () => Message | undefined,
  waiting: Set<() => void>,
  { timeout = 5_000, signal }: WaitOptions,
  failed: (waited: string) => WaitError,
): Promise<Message> {
  return new HostPromise((resolve, reject) => {
    const ms = milliseconds(timeout)
    const timer = setTimer(() => end(() => reject(failed(`waited ${durationText(ms)}`))), ms)
    const abort = () => end(() => reject(signal?.reason))
    function end(settle: () => void): void {
      clearTimer(timer)
      waiting.delete(look)
      signal?.removeEventListener('abort', abort)
      settle()
    }
    function look(): void {
      try {
        const message = take()
        if (message) end(() => resolve(message))
      } catch (error) {
        end(() => reject(error))
      }
    }
    waiting.add(look)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    else look()
  })
}

function explain(which: MessageFilter, arrived: readonly Arrived[]): string {
  const wanted = Object.values(which).join(' of ') || 'a message'
  const came = arrived.map(
    ({ event_type, payment_id, taken }) =>
      `${event_type} of ${payment_id}${taken ? ' (returned before)' : ''}`,
  )
  return `${wanted}. ${came.length > 0 ? `There came: ${came.join(', ')}` : 'No message came'}`
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Throws if the body is not a message. */
function readMessage(request: IncomingMessage, raw: string): Arrived {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) headers[name] = String(value)
  const { event_type, resource_id, webhook_message_id, resource } = JSON.parse(raw)
  return {
    event_type,
    payment_id: resource_id,
    message_id: webhook_message_id,
    attempt: 1,
    payment: resource,
    raw,
    headers,
    taken: false,
  }
}

function isSigned({ raw, headers }: Message, signingKey: string): boolean {
  const given = Buffer.from(headers['pay-signature'] ?? '')
  const { createHmac, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const right = Buffer.from(createHmac('sha256', signingKey).update(raw).digest('hex'))
  return given.length === right.length && timingSafeEqual(given, right)
}
