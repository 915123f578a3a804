/** Where races are run: over HTTP on a started service, and in memory on a database that shuffles its calls. */
import { join } from 'node:path'
import type { Database, Send } from '../../src/ports.ts'
import type { Client } from '../support/client.ts'
import type { Service } from '../support/service.ts'
import { type ModelService, startModelService } from './model-service.ts'
import { seeded } from './process/workload.ts'
import { type Ask, runRaces } from './race.ts'
import { scratchFolder } from './scratch-folder.ts'
import { shuffled } from './shuffled-database.ts'

/** For services that are started for races. */
export const sendNowhere: Send = async () => ({
  status: 'SUCCESSFUL',
  status_code: 204,
  response_time: 1,
  result: '204 No Content',
})

const webhook = { callback_url: 'https://hooks.example.org/all' }

export type Extent = { seed: number; rounds: number }

export async function raceOverHttp(service: Service, { seed, rounds }: Extent): Promise<void> {
  const api = await service.newAccount()
  await api.post('/v1/webhooks', webhook)
  service.clock.advance(1)
  const { database } = service
  const { now } = service.clock
  await runRaces({ ask: overHttp(api), random: seeded(seed), database, now, rounds, abreast: 4 })
}

/** `wrap` puts something between the service and the database, for a control. */
export async function raceShuffled(
  instances: number,
  { seed, rounds }: Extent,
  wrap = (database: Database) => database,
): Promise<void> {
  const folder = scratchFolder()
  const random = seeded(seed)
  let time = Date.parse('2026-09-14T08:20:31.407Z')
  const now = () => time
  const service = await startModelService({
    kind: 'shuffled SQLite',
    url: `sqlite:${join(folder, 'farthing.db')}`,
    instances,
    clock: now,
    folder,
    wrap: database => wrap(shuffled(database, random)),
  })
  try {
    const [key = ''] = await service.begin(['races'])
    const ask = inMemory(service, key)
    await ask({ method: 'POST', path: '/v1/webhooks', json: webhook })
    time += 1
    await runRaces({ ask, random, database: service.database(), now, rounds, abreast: 3 })
  } finally {
    await service.stop()
  }
}

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

const inMemory =
  (service: ModelService, key: string): Ask =>
  async ({ method, path, json, form, headers }) => {
    const payload = json ? JSON.stringify(json) : form && new URLSearchParams(form).toString()
    const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
    const answer = await service.request({
      method,
      url: path,
      headers: {
        authorization: `Bearer ${key}`,
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
