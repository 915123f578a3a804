/** The units of load. Each checks the status and the identifier of every response. */
import { type Answer, headerLines, request, type Send, type Work } from './load.ts'
import { KEY } from './servers.ts'

const JSON_TYPE = headerLines({ 'Content-Type': 'application/json' })
const FORM = headerLines({ 'Content-Type': 'application/x-www-form-urlencoded' })

/** Throws if a response is wrong, because the run is worthless then. */
export function expect(answer: Answer, status: number, contains = ''): void {
  if (answer.status === status && answer.body.includes(contains)) return
  throw new Error(
    `expected ${status} ${contains}, got ${answer.status}: ${answer.body.slice(0, 300)}`,
  )
}

export function requestsOf(key: string) {
  const authorised = headerLines({ Authorization: `Bearer ${key}` })
  const json = authorised + JSON_TYPE
  return {
    get: (path: string): string => request('GET', path, authorised),
    post: (path: string, body: object = {}): string =>
      request('POST', path, json, JSON.stringify(body)),
  }
}

export const { get, post } = requestsOf(KEY)
export const postForm = (path: string, fields: Record<string, string>): string =>
  request('POST', path, FORM, new URLSearchParams(fields).toString())

let made = 0

/** Every reference is different, as in a shop. */
export const newPayment = (fields: object = {}): object => ({
  amount: 4650,
  reference: `PITCH-${(++made).toString(36)}-${process.pid}`,
  description: 'Market pitch, week 38',
  return_url: 'https://markets.example.org/paid/41',
  ...fields,
})

const ID = /"payment_id":"(\w{26})"/

export function idIn({ body }: Answer): string {
  const id = ID.exec(body)?.[1]
  if (!id) throw new Error(`no payment_id in ${body.slice(0, 200)}`)
  // A copy, because a slice would keep the whole body in memory.
  return Buffer.from(id, 'latin1').toString('latin1')
}

/** Creates one payment and adds its identifier, which must be new, to `ids`. */
export function creating(ids: string[] = [], key = KEY): Work {
  const { post } = requestsOf(key)
  const create = async (send: Send) => {
    const answer = await send(post('/v1/payments', newPayment()))
    expect(answer, 201)
    ids.push(idIn(answer))
  }
  const judge = () => {
    if (new Set(ids).size < ids.length) throw new Error('two payments have the same identifier')
  }
  return Object.assign(create, { judge })
}

export function reading(ids: readonly string[], key = KEY): Work {
  const { get } = requestsOf(key)
  return async send => {
    const id = ids[Math.floor(Math.random() * ids.length)] ?? ''
    expect(await send(get(`/v1/payments/${id}`)), 200, `"payment_id":"${id}"`)
  }
}

/** Create, open the page, choose success, confirm, read: a typical test of a team. */
export function journey(onPaid: (id: string) => void = () => {}, key = KEY): Work {
  const { get, post } = requestsOf(key)
  return async send => {
    const created = await send(post('/v1/payments', newPayment()))
    expect(created, 201)
    const id = idIn(created)
    const page = /"next_url":\{"href":"[^"]+(\/secure\/\w+)"/.exec(created.body)?.[1] ?? ''
    expect(await send(get(page)), 200, 'Market pitch, week 38')
    expect(await send(postForm(page, { scenario: 'success' })), 303)
    const confirmed = await send(postForm(`${page}/confirm`, {}))
    expect(confirmed, 303)
    if (!/location: https:\/\/markets.example.org\/paid\/41\r\n/i.test(`${confirmed.head}\r\n`))
      throw new Error(`the journey ends elsewhere: ${confirmed.head}`)
    onPaid(id)
    expect(await send(get(`/v1/payments/${id}`)), 200, `"status":"success","finished":true`)
  }
}

/** The lengths of the responses in bytes, headers included, for the floor to match. */
export async function answerSizes(send: Send): Promise<{ post: number; get: number }> {
  const size = ({ head, body }: Answer) => head.length + 4 + body.length
  const created = await send(post('/v1/payments', newPayment()))
  expect(created, 201)
  const read = await send(get(`/v1/payments/${idIn(created)}`))
  expect(read, 200)
  return { post: size(created), get: size(read) }
}
