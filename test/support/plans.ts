/** Makes and lists plans, and sends requests that plans may change. */
import { type Body, type Client, type Sent, sendUnchecked, webPayment } from './client.ts'
import { asking, made } from './control.ts'
import type { Service } from './service.ts'

export function planning(service: () => Service) {
  const control = asking(service)
  const plan = (api: Client, body: object): Promise<Body> => made(control(api, 'plans', body))
  const listed = async (api: Client): Promise<Body[]> => (await control(api, 'plans')).body.results
  const counts = async (api: Client) => (await listed(api)).map(({ seen, acted }) => [seen, acted])
  let turn = 0
  const send = (api: Client, path: string, options: Omit<Sent, 'key'> = {}) => {
    const { baseUrls, clock } = service()
    // Gives the record the order of the requests, also through two instances.
    clock.advance(1)
    const url = path.startsWith('http') ? new URL(path).pathname : path
    const sent = { key: api.key, ...options }
    return sendUnchecked(`${baseUrls[turn++ % baseUrls.length]}${url}`, sent)
  }
  const create = (api: Client, fields: object = {}, headers: Record<string, string> = {}) =>
    send(api, '/v1/payments', { method: 'POST', json: { ...webPayment, ...fields }, headers })
  return { control, plan, listed, counts, send, create }
}
