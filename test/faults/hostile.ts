/** Sends generated requests to a running service and checks every response. */
import assert from 'node:assert/strict'
import type { Send } from '../../src/core/ports.ts'
import type { Body, Client } from '../support/client.ts'
import { descriptionOf } from '../support/description.ts'
import { resultOf } from '../support/held-send.ts'
import { choose, paidPayment } from '../support/journeys.ts'
import { fc } from '../support/properties.ts'
import type { Service } from '../support/service.ts'
import { sendHostile } from './hostile-client.ts'
import { isOurs, judge } from './hostile-judge.ts'
import { type HostileRequest, hostileRequest, operationsOf } from './hostile-requests.ts'
import { checkInvariants } from './invariants.ts'

/** Delivers every message at once, without a network. */
export const sendNowhere: Send = async () => resultOf(204)

/** Paths that no normalisation changes. */
const PLAIN = /^\/[a-z0-9_/]*(\?|$)/

/** Bytes. Longer bodies can be nested too deeply for the comparison. */
const MOST_COMPARED = 20_000

/** Requests until a new account is made, so that no payment has hundreds of webhooks. */
const REQUESTS_PER_ACCOUNT = 250

/** Throws with the seed and the request if a response breaks a rule. */
export async function attack(
  service: Service,
  { seed, requests }: { seed: number; requests: number },
): Promise<void> {
  let api = await service.newAccount()
  const { document, check } = await descriptionOf(service.baseUrl)
  const operations = operationsOf(document)
  let sent = 0
  let things = await makeThings(api)
  await fc.assert(
    fc.asyncProperty(hostileRequest(operations), async request => {
      if (++sent % REQUESTS_PER_ACCOUNT === 0) {
        api = await service.newAccount()
        things = await makeThings(api)
      }
      const whole = withThings(request, things)
      const base = service.baseUrls[sent % service.baseUrls.length] ?? ''
      const answer = await sendHostile(base, whole)
      try {
        const { status, headers, text } = judge(request, answer)
        const { method, target: path, body } = whole
        const sent = body.length < MOST_COMPARED ? body.toString('utf8') : undefined
        if (isOurs(headers) && PLAIN.test(path))
          check({ method, path, sent, status, headers, text })
      } catch (cause) {
        const { status, headers, text } = answer ?? {}
        const seen = JSON.stringify([status, [...(headers ?? [])], text?.slice(0, 300)])
        throw new Error(`the response was ${seen}`, { cause })
      }
    }),
    { seed, numRuns: requests },
  )
  await stillWorks(api)
  await checkInvariants(service.database, { now: service.clock.now(), settled: true })
}

type Things = Record<string, string[]>

/** Identifiers of things of every kind and state, by their placeholders in requests. */
async function makeThings(api: Client): Promise<Things> {
  const agreement = (await api.post('/v1/agreements', { reference: 'A', description: 'B' })).body
  const { agreement_id } = agreement
  const web: Body[] = []
  for (let nth = 0; nth < 16; nth++)
    web.push(await api.createPayment(nth === 1 ? { delayed_capture: true } : {}))
  web.push(await api.createPayment({ set_up_agreement: agreement_id }))
  const moto: Body[] = []
  for (const delayed_capture of [true, false, false])
    moto.push(await api.createPayment({ authorisation_mode: 'moto_api', delayed_capture }))
  for (const payment of web.slice(1, 8)) await choose(api, payment, 'success')
  for (const { _links } of [...web.slice(1, 4), ...web.slice(-1)])
    await api.postForm(`${_links.next_url.href}/confirm`, { scenario: 'success' })
  const refund = await api.post(`/v1/payments/${web[2].payment_id}/refunds`, { amount: 1 })
  const webhook = await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/x' })
  return {
    key: [api.key ?? ''],
    payment_id: [...web.slice(0, 5), ...moto, ...web.slice(1, 4)].map(made => made.payment_id),
    refund_id: [refund.body.refund_id],
    agreement_id: [agreement_id],
    webhook_id: [webhook.body.external_id],
    token: web.map(payment => payment._links.next_url_post.params.chargeTokenId),
    one_time_token: moto.map(payment => payment._links.auth_url_post.params.one_time_token),
  }
}

/** Replaces each placeholder. Of several things, the length of the request chooses one. */
function withThings(request: HostileRequest, things: Things): HostileRequest {
  const choice = request.target.length + request.body.length
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (name, kind: string) => {
      const choices = things[kind] ?? [name]
      return choices[choice % choices.length] ?? name
    })
  return {
    ...request,
    target: fill(request.target),
    headers: request.headers.map(([name, value]) => [name, fill(value)]),
    body: Buffer.from(fill(request.body.toString('latin1')), 'latin1'),
  }
}

export async function stillWorks(api: Client): Promise<void> {
  assert.equal((await paidPayment(api)).state.status, 'success')
  assert.equal((await api.get('/readyz')).status, 200)
}
