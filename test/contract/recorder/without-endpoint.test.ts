import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from '../../../src/tools/record/exchange.ts'
import { byBeginning, findExchanges } from '../../../src/tools/record/store.ts'
import { card } from '../../support/journeys.ts'
import { onEveryDatabase, type Service } from '../../support/service.ts'

async function flush({ apps }: Service): Promise<void> {
  for (const { recorder } of apps) await recorder?.flush()
}

/** All exchanges of an account, in the order in which they began. */
async function recorded(service: Service, room: string): Promise<Exchange[]> {
  await flush(service)
  const part = { limit: 500, order: 'oldest' } as const
  return (await findExchanges(service.database, room, {}, part)).sort(byBeginning)
}

onEveryDatabase('The recorder, of requests that reach no endpoint', service => {
  test('Requests without an account are not recorded, and with a key those of unknown paths are', async () => {
    const { name, api } = await service().newNamedAccount()
    const [{ found: before } = { found: 0 }] = await countAll(service())
    for (const path of ['/v1/payments', '/v1/v1', '/secure/unknown', '/healthz', '/', '/nowhere'])
      await service().anonymous.request('GET', path)
    await service().anonymous.post('/v1/auth', { ...card, one_time_token: 'x' })
    const headers = { Authorization: 'Bearer api_test_unknown' }
    await service().anonymous.request('GET', '/nowhere', { headers })
    for (const path of ['/healthz', '/secure/unknown/more']) await api.request('GET', path)
    await flush(service())
    assert.deepEqual(await countAll(service()), [{ found: before }])
    const token = 'a'.repeat(52)
    const wrong = ['/v1/v1/payments', '//v1/payments', '/payments', `/nowhere/${token}?a=1`]
    for (const [method, path] of [
      ['PUT', '/v1/payments'],
      ...wrong.map(path => ['POST', path] as const),
    ] as const) {
      service().clock.advance(1)
      await api.request(method, path, { body: 'x' })
    }
    assert.deepEqual(
      (await recorded(service(), name)).map(each => [
        each.operation,
        each.code,
        each.path + each.query,
      ]),
      [
        ['methodNotAllowed', 'P0912', '/v1/payments'],
        ...[...wrong.slice(0, 3), `/nowhere/${'a'.repeat(26)}…a=1`].map(path => [
          'noSuchEndpoint',
          'P0911',
          path,
        ]),
      ],
    )
  })
})

const countAll = ({ database }: Service) =>
  database.query<{ found: number }>('select cast(count(*) as integer) as found from exchanges')
