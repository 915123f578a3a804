import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Send } from '../../src/ports.ts'
import type { Client } from '../support/client.ts'
import { onEveryDatabase } from '../support/service.ts'
import { startModelService } from './model-service.ts'
import { seeded } from './process/workload.ts'
import { type Ask, runRaces } from './race.ts'
import { scratchFolder } from './scratch-folder.ts'
import { shuffled } from './shuffled-database.ts'

const seed = Number(process.env.SEED ?? randomInt(2 ** 31))
const ROUNDS = 30
const SHUFFLED_ROUNDS = 120

const send: Send = async () => ({
  status: 'SUCCESSFUL',
  status_code: 204,
  response_time: 1,
  result: '204 No Content',
})

const overHttp =
  (api: Client): Ask =>
  async ({ method, path, json, form, headers = {} }) => {
    const {
      status,
      headers: answered,
      body,
    } = await (method === 'GET'
      ? api.get(path)
      : form
        ? api.postForm(path, form)
        : api.post(path, json, headers))
    return { status, location: answered.get('location') ?? undefined, body }
  }

onEveryDatabase(
  `Races (SEED=${seed})`,
  service => {
    test('have one winner, and every loser is answered for the state that it finds', async () => {
      const api = await service().newAccount()
      await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/all' })
      service().clock.advance(1)
      await runRaces({
        ask: overHttp(api),
        random: seeded(seed),
        database: service().database,
        now: service().clock.now,
        rounds: ROUNDS,
        abreast: 4,
      })
    })
  },
  { send },
)

for (const instances of [1, 2])
  test(`Races of ${instances} on a database that shuffles its calls (SEED=${seed})`, async () => {
    const folder = scratchFolder()
    const random = seeded(seed)
    let now = Date.parse('2026-09-14T08:20:31.407Z')
    const service = await startModelService({
      kind: 'shuffled SQLite',
      url: `sqlite:${join(folder, 'farthing.db')}`,
      instances,
      clock: () => now,
      folder,
      wrap: database => shuffled(database, random),
    })
    try {
      const authorization = `Bearer ${await service.newKey('races')}`
      const ask: Ask = async ({ method, path, json, form, headers }) => {
        const payload = json ? JSON.stringify(json) : form && new URLSearchParams(form).toString()
        const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
        const answer = await service.request({
          method,
          url: path,
          headers: {
            authorization,
            ...(payload !== undefined && { 'content-type': type }),
            ...headers,
          },
          ...(payload !== undefined && { payload }),
        })
        const isJson = String(answer.headers['content-type']).startsWith('application/json')
        return {
          status: answer.status,
          location: answer.headers.location as string | undefined, // a header that is sent once
          body: isJson ? JSON.parse(answer.text) : undefined,
        }
      }
      await ask({
        method: 'POST',
        path: '/v1/webhooks',
        json: { callback_url: 'https://hooks.example.org/all' },
      })
      now += 1
      const database = service.database()
      const races = { ask, random, database, now: () => now }
      await runRaces({ ...races, rounds: SHUFFLED_ROUNDS, abreast: 3 })
    } finally {
      await service.stop()
    }
  })
