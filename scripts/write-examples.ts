/**
 * `npm run examples` writes src/app/docs/examples/recorded.json, the requests and responses of a service in use, and
 * the table of differences in docs/spec-gaps.md. With a seed and a clock that stands still, each run writes the same.
 */
import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { readConfig } from '../src/app/config.ts'
import { startFarthing } from '../src/app/start.ts'
import { type Behaviour, behaviours } from '../src/core/account.ts'
import { createNewId, timeOf } from '../src/core/ids.ts'
import type { OutgoingMessage, Ports, Send } from '../src/core/ports.ts'
import { createTime } from '../src/core/time.ts'
import { usedKey } from '../src/pay/differences/creating.ts'
import { webhooksBelowV1 } from '../src/pay/differences/messages.ts'
import { exampleAddresses } from '../src/platform/http/addresses.ts'
import { withTable } from './differences-table.ts'
import { type Body, LEDGER, PYTHON, STRICT, type Steps, useApi, useControl } from './journeys.ts'

type Examples = {
  path?: Record<string, string>
  request?: Record<string, Body>
  responses?: Record<number, Record<string, Body>>
}

const KEY = 'api_test_EXAMPLE0EXAMPLE0EXAMPLE0'

/** The text of the file. */
export async function recordExamples(): Promise<string> {
  const recorded: Body = {}
  for (const behaviour of behaviours) recorded[behaviour] = await recordOf(behaviour)
  return `${JSON.stringify(recorded, null, 2)}\n`
}

async function recordOf(behaviour: Behaviour): Promise<Body> {
  let now = Date.parse('2026-11-24T09:12:44.201Z')
  let isBroken = false
  const drawn = new Set<string>()
  const { examples, record } = createRecord()
  const received: OutgoingMessage[] = []
  const signingKeys = new Map<string, string>()
  const send: Send = async message => {
    received.push(message)
    if (message.url === LEDGER && received.length === 1) return TIMEOUT
    return receive(message, received, signingKeys.get(message.url) ?? '')
  }
  const farthing = await startFarthing({
    config: readConfig({
      PORT: '0',
      DATABASE_URL: 'sqlite::memory:',
      FARTHING_API_KEY: KEY,
      FARTHING_BASE_URL: exampleAddresses.api,
      FARTHING_PAGES_URL: exampleAddresses.pages,
      FARTHING_CONTROL: 'true',
      FARTHING_BEHAVIOUR: behaviour,
    }),
    seed: 'examples',
    backgroundWork: false,
    resolve: async () => ['93.184.215.14'],
    ports: (real: Ports) => ({
      ...real,
      time: createTime(() => now),
      newId: (...args) => {
        const id = real.newId(...args)
        drawn.add(id)
        return id
      },
      database: {
        ...real.database,
        check: () => (isBroken ? Promise.reject(new Error('broken')) : real.database.check()),
      },
      send,
    }),
  })
  const use = createUse(
    farthing.url,
    await operationsOf(farthing.url),
    (operationId, path, example) => {
      // The document of the control API is the same for both behaviours.
      if (behaviour === 'specification' || !path.startsWith('/control'))
        record(operationId, example)
    },
  )
  const steps: Steps = {
    use,
    repeats: usedKey[behaviour]('agreement') === 'repeats',
    settled: farthing.app.deliveries.settled,
    pass: ms => {
      now += ms
    },
    signs: ({ callback_url, signing_key }) => signingKeys.set(callback_url, signing_key),
  }
  try {
    await useHealth(use, broken => {
      isBroken = broken
    })
    await useApi(steps, webhooksBelowV1[behaviour] ? '/v1/webhooks' : '/control/webhooks')
    const captured = received.find(({ body }) => body.includes('card_payment_captured'))
    record('receiveMessage', {
      request: { 'A payment was captured': JSON.parse(captured?.body ?? '') },
    })
    if (behaviour === 'specification') await useControl(steps)
  } finally {
    await farthing.close()
  }
  return settled(examples, drawn)
}

async function useHealth(use: Steps['use'], breakDatabase: (broken: boolean) => void) {
  await use('Healthy', 'GET', '/healthz')
  await use('Healthy', 'GET', '/readyz')
  breakDatabase(true)
  await use('Unavailable', 'GET', '/readyz')
  breakDatabase(false)
  await use('Healthy', 'GET', '/healthcheck')
}

/** Makes a function that sends a request, and records it and its response below `summary`. Returns the body. */
function createUse(
  url: string,
  operations: Awaited<ReturnType<typeof operationsOf>>,
  record: (operationId: string, path: string, example: Examples) => void,
): Steps['use'] {
  return async (summary, method, path, sent = {}) => {
    const { body, form, headers, key = KEY, without } = sent
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body ? JSON.stringify(body) : form ? new URLSearchParams(form) : null,
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const answer = isJson ? JSON.parse(text) : undefined
    const operation = operations.find(each => each.method === method && each.pattern.test(path))
    if (!operation) throw new Error(`no document has ${method} ${path}`)
    if (without !== 'both')
      record(operation.operationId, path, {
        path: { ...operation.pattern.exec(path)?.groups },
        ...((body ?? form) && { request: { [summary]: body ?? form } }),
        ...(isJson &&
          without !== 'response' && { responses: { [response.status]: { [summary]: answer } } }),
      })
    return answer
  }
}

function createRecord() {
  const examples: Record<string, Examples> = {}
  function record(operationId: string, { path, request, responses }: Examples): void {
    const before = examples[operationId] ?? {}
    const all = { ...before.responses }
    for (const [status, bodies] of Object.entries(responses ?? {}))
      all[Number(status)] = { ...all[Number(status)], ...bodies }
    examples[operationId] = {
      ...(path && Object.keys(path).length > 0 && { path: { ...path, ...before.path } }),
      ...((before.request || request) && { request: { ...before.request, ...request } }),
      ...(Object.keys(all).length > 0 && { responses: all }),
    }
  }
  return { examples, record }
}

/** Every operation of both documents, with a pattern for its paths. */
async function operationsOf(url: string) {
  const documents: Body[] = await Promise.all(
    ['/openapi.json', '/control/openapi.json'].map(async path => (await fetch(url + path)).json()),
  )
  return documents.flatMap(({ paths }) =>
    Object.entries<Body>(paths).flatMap(([path, methods]) =>
      Object.entries<Body>(methods)
        .filter(([, { operationId }]) => operationId)
        .map(([method, { operationId }]) => ({
          operationId: operationId as string,
          method: method.toUpperCase(),
          pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/?]+)')}(\\?|$)`),
        })),
    ),
  )
}

/** Replaces what differs in each run: the record's identifiers, which have no seed, and durations. */
function settled(examples: Body, drawn: ReadonlySet<string>): Body {
  const newId = createNewId(count => Array<number>(count).fill(7))
  const others = new Map<string, string>()
  const text = JSON.stringify(examples, (name, value) => (name === 'ms' ? 3.1 : value))
  return JSON.parse(
    text.replaceAll(/(?<=")0[0-9a-v]{25}(?="|-1")/g, id => {
      if (drawn.has(id)) return id
      const other = others.get(id) ?? newId(timeOf(id))
      others.set(id, other)
      return other
    }),
  )
}

const TIMEOUT = {
  status: 'FAILED',
  status_code: null,
  response_time: 2001,
  result: 'timeout',
} as const

async function receive(message: OutgoingMessage, received: OutgoingMessage[], key: string) {
  const { url, body, headers, message_id } = message
  const isRepeated = received.filter(each => each.message_id === message_id).length > 1
  const signature = createHmac('sha256', key)
    .update(printed(JSON.parse(body)))
    .digest('hex')
  const refuses =
    (url === PYTHON && headers['Pay-Signature'] !== signature && '401 Unauthorized') ||
    (url === STRICT && isRepeated && '409 Conflict')
  const result = refuses || '200 OK'
  return {
    status: refuses ? 'FAILED' : 'SUCCESSFUL',
    status_code: Number(result.slice(0, 3)),
    response_time: 38,
    result,
    answer: Promise.resolve({ headers: [], body: Buffer.alloc(0), size: 0, sent: headers }),
  } as const
}

/** The value as json.dumps() of Python prints it, if all texts are ASCII. */
function printed(value: Body): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(printed).join(', ')}]`
  const fields = Object.entries(value).map(([name, each]) => `"${name}": ${printed(each)}`)
  return `{${fields.join(', ')}}`
}

if (import.meta.main) {
  const file = (path: string) => new URL(`../${path}`, import.meta.url)
  writeFileSync(file('src/app/docs/examples/recorded.json'), await recordExamples())
  const gaps = file('docs/spec-gaps.md')
  writeFileSync(gaps, withTable(readFileSync(gaps, 'utf8')))
}
