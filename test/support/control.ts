import type { Body, Client } from './client.ts'
import type { Service } from './service.ts'

let asked = 0

/**
 * Sends a request to the control API, which /openapi.json does not describe, with the key of a client. The instances of
 * the service take turns.
 */
export async function ask(
  { apps, baseUrls }: Service,
  { key }: Client,
  path: string,
  body?: object,
  method = body ? 'POST' : 'GET',
): Promise<{ status: number; body: Body }> {
  for (const { recorder } of apps) await recorder?.flush()
  const response = await fetch(
    `${baseUrls[asked++ % baseUrls.length]}/control${path && `/${path}`}`,
    {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    },
  )
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
