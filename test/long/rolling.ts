/** Restarts two instances behind nginx with examples/nginx.conf. Every request must get an answer. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { KEY, settings } from '../faults/process/serve.ts'
import { createClient, createOnce } from '../support/client.ts'
import { tempFolder } from '../support/folders.ts'
import { freePort, isListening } from '../support/ports.ts'
import { copyMigratedDatabase } from '../support/postgres.ts'
import { startProcess } from '../support/process.ts'
import type { Job } from './run.ts'

const CLIENTS = 16
const EXAMPLE = join(import.meta.dirname, '../../examples/nginx.conf')

/** The first port is for nginx, the others are the ports of the instances. */
async function startNginx([port, ...instances]: number[]): Promise<ChildProcess> {
  const folder = tempFolder()
  const [first, second] = instances
  const example = readFileSync(EXAMPLE, 'utf8')
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('127.0.0.1:3001', `127.0.0.1:${first}`)
    .replace('127.0.0.1:3002', `127.0.0.1:${second}`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(name => `${name}_temp_path ${join(folder, name)};`)
    .join(' ')
  const file = join(folder, 'nginx.conf')
  const main = `daemon off; pid ${join(folder, 'pid')}; error_log ${join(folder, 'errors')}; worker_processes 2;`
  // The clients keep their connections to nginx for the whole run.
  const limits = `${temporary} keepalive_requests 1000000;`
  writeFileSync(file, `${main}\nevents {}\nhttp { ${limits}\n${example}}\n`)
  const { status, stderr } = spawnSync('nginx', ['-t', '-q', '-c', file], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const nginx = spawn('nginx', ['-c', file], { stdio: 'ignore' })
  while (!(await isListening(port ?? 0))) await pause(20)
  return nginx
}

export const job: Job = {
  title: 'rolling restarts of two instances behind nginx, under 16 clients',
  async run({ scale }) {
    if (spawnSync('nginx', ['-v']).error) return 'left out: there is no nginx'
    const restarts = Math.ceil(40 * scale)
    const DATABASE_URL = await copyMigratedDatabase()
    const ports = [await freePort(), await freePort(), await freePort()]
    const start = (nth: number) =>
      startProcess({ env: settings(DATABASE_URL, { PORT: String(ports[nth]) }) })
    const instances = [await start(1), await start(2)]
    const nginx = await startNginx(ports)
    const url = `http://127.0.0.1:${ports[0]}`
    const outcomes: Record<string, number> = {}
    let running = true
    const create = async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      while (running) {
        const outcome = await createOnce(url, agent, KEY)
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      }
    }
    const clients = Array.from({ length: CLIENTS }, create)
    for (let n = 0; n < restarts; n++) {
      await pause(500)
      const nth = n % 2
      assert.deepEqual(await instances[nth]?.terminate(), { code: 0, signal: null })
      instances[nth] = await start(nth + 1)
    }
    running = false
    await Promise.all(clients)
    const { 201: created = 0, ...lost } = outcomes
    const { body } = await createClient([url], KEY).get('/v1/payments?display_size=1')
    for (const instance of instances) await instance.terminate()
    nginx.kill('SIGTERM')
    await once(nginx, 'exit')
    assert.deepEqual(lost, {}, `beside ${created} payments in ${restarts} restarts`)
    assert.equal(body.total, created)
    return `${restarts} restarts, ${created.toLocaleString('en-GB')} payments`
  },
}
