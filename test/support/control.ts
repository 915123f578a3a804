import assert from 'node:assert/strict'
import { type Body, type Client, createClient, exchange } from './client.ts'
import { controlDescriptionOf } from './description.ts'
import type { SharedService } from './service.ts'

type Instances = Pick<SharedService, 'apps' | 'baseUrls'>

let asked = 0

/** Keyed by the `apps` of a service, because a later service of the process can have the same port. */
const descriptions = new WeakMap<object, ReturnType<typeof controlDescriptionOf>>()

/**
 * Sends a request to the control API with the key of a client. The instances of the service take turns. An exchange that
 * differs from /control/openapi.json fails the test that made it.
 */
export async function ask(
  { apps, baseUrls }: Instances,
  { key }: Client,
  path: string,
  body?: object,
  method = body ? 'POST' : 'GET',
): Promise<{ status: number; body: Body }> {
  for (const { recorder } of apps) await recorder?.flush()
  const base = baseUrls[asked++ % baseUrls.length] ?? ''
  const asks = `/control${path && `/${path}`}`
  const sent = body && JSON.stringify(body)
  const authorised = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const { status, headers, text } = await exchange(method, base + asks, authorised, sent)
  const description = descriptions.get(apps) ?? controlDescriptionOf(base)
  descriptions.set(apps, description)
  const described = await description
  described?.check({ method, path: asks, sent, status, headers, text })
  return { status, body: text === '' ? undefined : JSON.parse(text) }
}

/** `ask` for a service that starts later. */
export const asking =
  (service: () => Instances) =>
  (api: Client, path: string, body?: object, method?: string): ReturnType<typeof ask> =>
    ask(service(), api, path, body, method)

export async function testAccount(service: Instances, parent: Client, fields: object = {}) {
  const body = await made(ask(service, parent, 'accounts', fields))
  return { ...body, api: createClient(service.baseUrls, body.key) }
}

export async function made(answer: Promise<{ status: number; body: Body }>): Promise<Body> {
  const { status, body } = await answer
  assert.ok(status < 300, JSON.stringify(body))
  return body
}

export async function assertRefused(
  service: Instances,
  api: Client,
  path: string,
  bodies: readonly (readonly [body: object, field: string, code?: string])[],
): Promise<void> {
  for (const [body, field, code = 'C0102'] of bodies) {
    const { status, body: error } = await ask(service, api, path, body)
    const refused = [status, error.code, error.field]
    assert.deepEqual(refused, [422, code, field], `${path} ${JSON.stringify(body)}`)
  }
}
