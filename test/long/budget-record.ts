import assert from 'node:assert/strict'
import http from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { assertOnly, storm } from '../faults/process/storm.ts'
import { type Attack, type Attacked, attackAll } from '../support/attacked.ts'
import { createOnce, sendUnchecked } from '../support/client.ts'
import { tempDatabase, tempFolder } from '../support/folders.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Job } from './run.ts'

/** Attacks of one account on the record, and their effect on the others. */
export const job: Job = {
  title: 'a full volume, and a full record (SQLite)',
  run: ({ scale }) =>
    attackAll({
      'full volume': fillVolume(Math.max(5, Math.ceil(60 * scale))),
      // Each page is different, because equal requests share one look.
      '50 pages of a full record at once': ofFullRecord(at =>
        all(at, 50, nth => `/control/requests?limit=${500 - nth}`),
      ),
      '20 checks of a full record at once': ofFullRecord(at => all(at, 20, () => '/control/check')),
    }),
}

/** 64 KB of headers in a response, less the headers that Node adds. */
const LARGE_HEADERS = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [`X-Large-${i}`, 'v '.repeat(1_600)]),
)

/** Sends by hand as fast as possible to a receiver with large headers, on a volume of 300 MB, while others pay. */
function fillVolume(seconds: number): Attack {
  const folder = tempFolder()
  const mount = `mount -t tmpfs -o size=300m tmpfs ${folder} && exec "$@"`
  return {
    url: () => `sqlite:${folder}/farthing.db`,
    wrapper: ['unshare', '-m', 'sh', '-c', mount, 'sh'],
    bars: {},
    mayFail: true,
    async run({ service, api, other }) {
      const onRequest = ({ response }: { response: http.ServerResponse }) =>
        response.writeHead(200, LARGE_HEADERS).end()
      const receiver = await startReceiver({ plain: true, onRequest })
      const made = await api.post('/v1/webhooks', { callback_url: receiver.url })
      assert.equal(made.status, 201, made.text)
      const { payment_id } = await api.createPayment()
      await api.post(`/v1/payments/${payment_id}/cancel`)
      const messages = `${service.baseUrl}/control/messages`
      const { key } = api
      const [message] = (await sendUnchecked(`${messages}?wait=5000`, { key })).body.results
      const until = performance.now() + seconds * 1_000
      let sent = 0
      const flood = async () => {
        const json = { times: 10 }
        while (performance.now() < until) {
          const path = `${messages}/${message.message_id}/send`
          const { status } = await sendUnchecked(path, { key, method: 'POST', json })
          if (status === 200) sent += 10
          else await setTimeout(20)
        }
      }
      const statuses: Record<string, number> = {}
      const agent = new http.Agent({ keepAlive: true })
      const pay = async () => {
        while (performance.now() < until + 5_000) {
          const outcome = await createOnce(service.baseUrl, agent, other.key)
          statuses[outcome] = (statuses[outcome] ?? 0) + 1
          await setTimeout(10)
        }
      }
      await Promise.all([...Array.from({ length: 16 }, flood), pay()])
      agent.destroy()
      await receiver.close()
      assert.deepEqual(Object.keys(statuses), ['201'], JSON.stringify(statuses))
      return `volume of 300 MB: ${sent} sends by hand with 64 KB of headers in ${seconds} s, ${statuses[201]} creates`
    },
  }
}

const LARGE = 'v'.repeat(8_000)
const ROWS = 10_000

/** Writes 10,000 requests of the largest kept size to the file beside the service. */
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

function ofFullRecord(run: Attack['run']): Attack {
  const DATABASE_URL = tempDatabase()
  return {
    url: () => DATABASE_URL,
    bars: { silence: 200, memory: 400 },
    async fill({ api }) {
      await api.get('/v1/payments')
      await setTimeout(1_000)
      await fillRecord(DATABASE_URL)
    },
    run,
  }
}

async function all({ service, api }: Attacked, count: number, path: (nth: number) => string) {
  const { outcomes, said, largest } = await storm(service, api, { path, count })
  assertOnly(outcomes)
  return `${said}, ${largest} bytes at most`
}
