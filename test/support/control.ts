import type { Body, Client } from './client.ts'
import { controlDescriptionOf } from './description.ts'
import type { Service } from './service.ts'

let asked = 0

const descriptions = new Map<string, ReturnType<typeof controlDescriptionOf>>()

/**
 * Sends a request to the control API with the key of a client. The instances of the service take turns. An exchange that
 * differs from /control/openapi.json fails the test that made it.
 */
export async function ask(
  { apps, baseUrls }: Service,
  { key }: Client,
  path: string,
  body?: object,
  method = body ? 'POST' : 'GET',
): Promise<{ status: number; body: Body }> {
  for (const { recorder } of apps) await recorder?.flush()
  const base = baseUrls[asked++ % baseUrls.length] ?? ''
  const asks = `/control${path && `/${path}`}`
  const sent = body && JSON.stringify(body)
  const response = await fetch(base + asks, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(sent !== undefined && { body: sent }),
  })
  const { status, headers } = response
  const text = await response.text()
  const description = descriptions.get(base) ?? controlDescriptionOf(base)
  descriptions.set(base, description)
  const described = await description
  described?.check({ method, path: asks, sent, status, headers, text })
  return { status, body: text === '' ? undefined : JSON.parse(text) }
}
