/** Takes the steps of the model on real services and compares, with the model's names for identifiers. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Expected, Request, Step, World } from './model.ts'
import type { Answer, ModelService, RawRequest, Sent } from './model-service.ts'
import { sentBody } from './model-webhooks.ts'

/** One service with what the world's names mean on it. */
export type Subject = {
  service: ModelService
  /** By account. */
  keys: string[]
  nameOf: Map<string, string>
  realOf: Map<string, string>
}

/** A subject in which nothing was made yet, in accounts that nobody else uses. */
export async function newSubject(service: ModelService, room: string): Promise<Subject> {
  const keys = await service.begin([`${room} a`, `${room} b`])
  return { service, keys, nameOf: new Map(), realOf: new Map() }
}

/** Makes the step's request on every subject; throws when one of them differs from the model. */
export async function take(world: World, subjects: Subject[], step: Step): Promise<void> {
  await Promise.all(
    subjects.map(async subject => {
      const answer = await subject.service.request(rawRequest(subject, step.request))
      compare(subject, step, answer)
      compareSends(world, subject)
    }),
  )
  world.sends = []
}

/** Restarts every subject and compares what they then send. */
export async function restart(world: World, subjects: Subject[]): Promise<void> {
  await Promise.all(
    subjects.map(async subject => {
      await subject.service.restart()
      compareSends(world, subject)
    }),
  )
  world.sends = []
}

const NAME = /\{[a-z]+-\d+\}/g
const WHOLE_NAME = /^\{[a-z]+-\d+\}$/
/** Signing keys, tokens and identifiers of ours; identifiers of the provider. */
const REAL =
  /webhook_test_[0-9a-v]{26}|[0-9a-v]{52}|[0-9a-v]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

const toReal = ({ realOf }: Subject, text: string): string =>
  text.replace(NAME, name => realOf.get(name) ?? name)

const toNames = ({ nameOf }: Subject, text: string): string =>
  text.replace(REAL, real => nameOf.get(real) ?? real)

function rawRequest(subject: Subject, request: Request): RawRequest {
  const { method, path, account, headers = {}, json, form } = request
  const key = account === undefined ? undefined : subject.keys[account]
  const payload = json
    ? JSON.stringify(json)
    : form &&
      new URLSearchParams(form.map(([name, text]) => [name, toReal(subject, text)])).toString()
  const type = json ? 'application/json' : 'application/x-www-form-urlencoded'
  return {
    method,
    url: toReal(subject, path),
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(payload !== undefined && { 'content-type': type }),
      ...headers,
    },
    ...(payload !== undefined && { payload: toReal(subject, payload) }),
  }
}

/** Learns what names mean from where they stand: each must mean one thing, and each thing have one name. */
function learn(subject: Subject, expected: unknown, real: unknown): void {
  if (typeof expected === 'string' && typeof real === 'string') {
    if (!WHOLE_NAME.test(expected) || subject.realOf.has(expected)) return
    assert.equal(subject.nameOf.get(real), undefined, `${expected} is new and so is ${real}`)
    subject.nameOf.set(real, expected)
    subject.realOf.set(expected, real)
  } else if (typeof expected === 'object' && typeof real === 'object' && expected && real)
    for (const [name, value] of Object.entries(expected))
      learn(subject, value, (real as Record<string, unknown>)[name]) // undefined where it is missing
}

function compare(subject: Subject, { request, expected }: Step, answer: Answer): void {
  const where = `${request.method} ${request.path} on ${subject.service.kind}`
  const { status, text, headers } = answer
  if (status !== expected.status)
    assert.fail(`${where}: ${status} ${toNames(subject, text)}, not ${describe(expected)}`)
  if (request.method === 'HEAD') assert.equal(text, '', where)
  else if (expected.page) comparePage(subject, expected.page, text, where)
  else if (expected.body === undefined) assert.equal(text, '', where)
  else compareBody(subject, expected.body, text, where)
  for (const [name, value] of Object.entries(expected.headers ?? {}))
    assert.equal(toNames(subject, String(headers[name])), value, `${where}: ${name}`)
}

function compareBody(subject: Subject, expected: unknown, text: string, where: string): void {
  learn(subject, expected, JSON.parse(text))
  const actual = withoutProse(JSON.parse(toNames(subject, text)))
  const wanted = withoutProse(expected)
  if (!isDeepStrictEqual(actual, wanted)) assert.deepEqual(actual, wanted, where)
}

/** Descriptions of errors and messages of states are for people: only that they are there is compared. */
function withoutProse(body: unknown): unknown {
  const text = JSON.stringify(body).replace(/"(message|description)":"[^"]+"/g, '"$1":"..."')
  const { description, ...rest } = JSON.parse(text)
  return 'code' in rest ? rest : { description, ...rest }
}

function comparePage(
  subject: Subject,
  { heading, holds }: NonNullable<Expected['page']>,
  text: string,
  where: string,
): void {
  const [, shown = ''] = /<h1[^>]*>([^<]*)<\/h1>/.exec(text) ?? []
  assert.equal(shown.replaceAll('&#39;', "'"), heading, where)
  const page = toNames(subject, text)
  for (const part of holds) assert.ok(page.includes(part), `${where}: no ${part} in ${page}`)
}

const describe = ({ status, body, page }: Expected): string =>
  `${status} ${JSON.stringify(body ?? page ?? '')}`

/** Each receiver must have seen its messages in order, with the right bytes and a good signature. */
function compareSends(world: World, subject: Subject): void {
  const expected = Map.groupBy(world.sends, message => message.webhook.callback_url)
  const ours = (sent: Sent) => world.webhooks.some(({ callback_url }) => callback_url === sent.url)
  const actual = Map.groupBy(subject.service.takeSent().filter(ours), sent => sent.url)
  for (const url of new Set([...expected.keys(), ...actual.keys()])) {
    const wanted = (expected.get(url) ?? []).map(sentBody)
    const seen = actual.get(url) ?? []
    const where = `sent to ${url} by ${subject.service.kind}`
    learn(
      subject,
      wanted,
      seen.map(({ body }) => JSON.parse(body)),
    )
    assert.deepEqual(
      seen.map(({ body }) => JSON.parse(toNames(subject, body))),
      wanted,
      where,
    )
    const { signing_key = '' } =
      world.webhooks.find(({ callback_url }) => callback_url === url) ?? {}
    const key = toReal(subject, signing_key)
    for (const { headers, body } of seen) {
      const signature = createHmac('sha256', key).update(body).digest('hex')
      assert.equal(headers['Pay-Signature'], signature, where)
    }
  }
}
