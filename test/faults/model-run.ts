/** Takes the steps of the model on real services and compares the results. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Request, Step, World } from './model.ts'
import type { Answer, ModelService, RawRequest, Sent } from './model-service.ts'
import { sentBody } from './model-webhooks.ts'

/** One service, and the real identifiers behind the model's names. */
export type Subject = {
  service: ModelService
  /** The keys, by account. */
  keys: string[]
  nameOf: Map<string, string>
  realOf: Map<string, string>
}

export async function newSubject(service: ModelService, world: string): Promise<Subject> {
  const keys = await service.begin([`${world} a`, `${world} b`])
  return { service, keys, nameOf: new Map(), realOf: new Map() }
}

/** Acts on every subject, and compares the messages that it then sends. */
async function onAll(world: World, subjects: Subject[], act: (of: Subject) => Promise<void>) {
  await Promise.all(
    subjects.map(async subject => {
      await act(subject)
      compareSends(world, subject)
    }),
  )
  world.sends = []
}

/** Sends the step's request to every subject; throws if a response or a delivery differs from the model. */
export const take = (world: World, subjects: Subject[], step: Step): Promise<void> =>
  onAll(world, subjects, async subject =>
    compare(subject, step, await subject.service.request(rawRequest(subject, step.request))),
  )

export const restart = (world: World, subjects: Subject[]): Promise<void> =>
  onAll(world, subjects, ({ service }) => service.restart())

const NAME = /\{[a-z]+-\d+\}/g
const WHOLE_NAME = /^\{[a-z]+-\d+\}$/
/** Signing keys, tokens and identifiers. */
const REAL = /webhook_test_[0-9a-v]{26}|[0-9a-v]{52}|[0-9a-v]{26}/g

const toReal = ({ realOf }: Pick<Subject, 'realOf'>, text: string): string =>
  text.replace(NAME, name => realOf.get(name) ?? name)

export const toNames = ({ nameOf }: Subject, text: string): string =>
  text.replace(REAL, real => nameOf.get(real) ?? real)

export function rawRequest(
  subject: Pick<Subject, 'keys' | 'realOf'>,
  request: Request,
): RawRequest {
  const { method, path, account, headers = {}, json, form } = request
  const payload = json ? JSON.stringify(json) : form && new URLSearchParams(form).toString()
  const type = json ? 'application/json' : 'application/x-www-form-urlencoded'
  return {
    method,
    url: toReal(subject, path),
    headers: {
      ...(account !== undefined && { authorization: `Bearer ${subject.keys[account]}` }),
      ...(payload !== undefined && { 'content-type': type }),
      ...headers,
    },
    ...(payload !== undefined && { payload: toReal(subject, payload) }),
  }
}

/** Learns the real identifiers from where their names are expected. The mapping must be one to one. */
function learn(subject: Subject, expected: unknown, real: unknown): void {
  if (typeof expected === 'string' && typeof real === 'string') {
    if (!WHOLE_NAME.test(expected) || subject.realOf.has(expected)) return
    assert.equal(subject.nameOf.get(real), undefined, `${expected} is new and so is ${real}`)
    subject.nameOf.set(real, expected)
    subject.realOf.set(expected, real)
  } else if (typeof expected === 'object' && typeof real === 'object' && expected && real)
    for (const [name, value] of Object.entries(expected))
      learn(subject, value, (real as Record<string, unknown>)[name]) // undefined if it is missing
}

/** `actual` with only the properties that `expected` names; arrays keep all their items. */
function project(expected: unknown, actual: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.map((item, i) => project(expected[i], item))
  if (!isObject(expected) || !isObject(actual)) return actual
  return Object.fromEntries(
    Object.keys(expected).map(name => [name, project(expected[name], actual[name])]),
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Learns new identifiers, then throws if the JSON in `actual` lacks a part of `expected`. */
function compareJson(subject: Subject, expected: object, actual: string, where: string): void {
  learn(subject, expected, JSON.parse(actual))
  const projected = project(expected, JSON.parse(toNames(subject, actual)))
  // Twice as fast as assert.deepEqual, which is needed only for its message.
  if (!isDeepStrictEqual(projected, expected)) assert.deepEqual(projected, expected, where)
}

function compare(subject: Subject, { request, expected }: Step, answer: Answer): void {
  const where = `${request.method} ${request.path} on ${subject.service.kind}`
  const { status, text, headers } = answer
  if (status !== expected.status)
    assert.fail(`${where}: ${status} ${toNames(subject, text)}, not ${JSON.stringify(expected)}`)
  if (expected.body) compareJson(subject, expected.body, text, where)
  if (expected.location)
    assert.equal(toNames(subject, String(headers.location)), expected.location, where)
}

/** Each receiver must have got its messages in order and with right signatures. */
function compareSends(world: World, subject: Subject): void {
  const expected = Map.groupBy(world.sends, message => message.webhook.callback_url)
  const ours = (sent: Sent) => world.webhooks.some(({ callback_url }) => callback_url === sent.url)
  const actual = Map.groupBy(subject.service.takeSent().filter(ours), sent => sent.url)
  for (const url of new Set([...expected.keys(), ...actual.keys()])) {
    const wanted = (expected.get(url) ?? []).map(sentBody)
    const seen = actual.get(url) ?? []
    const where = `sent to ${url} by ${subject.service.kind}`
    compareJson(subject, wanted, `[${seen.map(({ body }) => body).join()}]`, where)
    const webhook = world.webhooks.find(({ callback_url }) => callback_url === url)
    const key = toReal(subject, webhook?.signing_key ?? '')
    for (const { headers, body } of seen) {
      const signature = createHmac('sha256', key).update(body).digest('hex')
      assert.equal(headers['Pay-Signature'], signature, where)
    }
  }
}
