import assert from 'node:assert/strict'
import type http from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { assertOnly, storm } from '../faults/process/storm.ts'
import { type Attack, runAttacks } from '../support/attacked.ts'
import { sendUnchecked } from '../support/client.ts'
import { tempDatabase, tempFolder } from '../support/folders.ts'
import { cancelledPayment } from '../support/journeys.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Job } from './run.ts'

/** What one account can do to the record, and what the others notice. */
export const job: Job = {
  title: 'a full volume, and a full record (SQLite)',
  run: ({ scale }) =>
    runAttacks({
      'full volume': fillVolume(Math.max(5, Math.ceil(60 * scale))),
      // Different ones: equal requests share one look.
      '50 pages of a full record at once': ofFullRecord(
        50,
        nth => `/control/requests?limit=${500 - nth}`,
      ),
      '20 checks of a full record at once': ofFullRecord(20, () => '/control/check'),
    }),
}

/** A response with 64 KB of headers, less what Node adds. */
const LARGE_HEADERS = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [`X-Large-${i}`, 'v '.repeat(1_600)]),
)

/** Sends by hand as fast as it can to a receiver with large headers, on a volume of 300 MB: no payment is refused. */
function fillVolume(seconds: number): Attack {
  const folder = tempFolder()
  const mount = `mount -t tmpfs -o size=300m tmpfs ${folder} && exec "$@"`
  return {
    url: () => `sqlite:${folder}/farthing.db`,
    wrapper: ['unshare', '-m', 'sh', '-c', mount, 'sh'],
    bars: {},
    creates: true,
    async run({ service, api }) {
      const onRequest = ({ response }: { response: http.ServerResponse }) =>
        response.writeHead(200, LARGE_HEADERS).end()
      const receiver = await startReceiver({ plain: true, onRequest })
      const made = await api.post('/v1/webhooks', { callback_url: receiver.url })
      assert.equal(made.status, 201, made.text)
      await cancelledPayment(api)
      const url = `${service.baseUrl}/control/messages?wait=5000`
      const [message] = (await sendUnchecked(url, { key: api.key })).body.results
      const path = `/control/messages/${message.message_id}/send`
      const send = { method: 'POST', path, body: '{"times":10}', count: 16, connections: 16 }
      let sent = 0
      for (const until = performance.now() + seconds * 1_000; performance.now() < until; )
        sent += 10 * ((await storm(service, api, send)).outcomes[200] ?? 0)
      await setTimeout(5_000)
      await receiver.close()
      return `volume of 300 MB: ${sent} sends by hand with 64 KB of headers in ${seconds} s`
    },
  }
}

const LARGE = 'v'.repeat(8_000)
const ROWS = 10_000

/** 10,000 requests with as much as is kept of each, written to the file beside the service. */
async function fillRecord(database: string): Promise<void> {
  const file = new DatabaseSync(database.replace('sqlite:', ''))
  file.exec('pragma busy_timeout = 5000')
  const [sample] = file.prepare("select * from exchanges where kind = 'api' limit 1").all()
  assert.ok(sample)
  const body = JSON.stringify({
    ...JSON.parse(String(sample.body)),
    request_body: { text: LARGE },
    response_body: { text: LARGE },
  })
  const names = Object.keys(sample)
  const insert = file.prepare(
    `insert into exchanges (${names.join()}) values (${names.map(() => '?').join()})`,
  )
  const first = String(sample.exchange_id)
  file.exec('begin')
  for (let i = 0; i < ROWS; i++) {
    const id = first.slice(0, 16) + i.toString().padStart(10, '0')
    insert.run(...Object.values({ ...sample, exchange_id: id, body }))
  }
  file.exec('commit')
  file.close()
}

function ofFullRecord(count: number, path: (nth: number) => string): Attack {
  const DATABASE_URL = tempDatabase()
  return {
    url: () => DATABASE_URL,
    bars: { silence: 200, memory: 400 },
    async fill({ api }) {
      await api.get('/v1/payments')
      await setTimeout(1_000)
      await fillRecord(DATABASE_URL)
    },
    async run({ service, api }) {
      const { outcomes, said, largest } = await storm(service, api, { path, count })
      assertOnly(outcomes)
      return `${said}, ${largest} bytes at most`
    },
  }
}
