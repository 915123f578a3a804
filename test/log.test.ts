import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { assets } from '../src/platform/web/assets.ts'
import { createClient, webPayment } from './support/client.ts'
import { type FarthingProcess, startProcess } from './support/process.ts'

const FARTHING_API_KEY = 'key-of-the-default-account'

/** Runs requests against the service as a process. Returns its JSON lines of requests and searches, parsed. */
async function linesOf(
  LOG_LEVEL: string,
  work: (service: FarthingProcess) => Promise<unknown>,
): Promise<Record<string, unknown>[]> {
  const env = { DATABASE_URL: 'sqlite::memory:', FARTHING_API_KEY, LOG_LEVEL }
  const service = await startProcess({ env })
  try {
    await work(service)
    await service.terminate()
  } finally {
    await service.kill()
  }
  const [, ...lines] = service.output().trimEnd().split('\n')
  return (
    lines
      .map((line): Record<string, unknown> => JSON.parse(line))
      // The client of the tests reads the description of the API.
      .filter(line => line.method && line.route !== '/openapi.json')
  )
}

/** Leaves out the fields that differ from run to run. */
const lasting = ({ level, time, pid, hostname, ms, ...rest }: Record<string, unknown>) => rest

test('At the level info the log line of a request has the code of its error with the field or header, that of a page has no code, and requests for assets have no line', async () => {
  const lines = await linesOf('info', async ({ baseUrl }) => {
    const api = createClient([baseUrl], FARTHING_API_KEY)
    await api.post('/v1/payments', { ...webPayment, return_url: 'http://localhost:1/' })
    await api.post('/v1/payments', webPayment, { 'Idempotency-Key': 'not allowed!' })
    await createClient([baseUrl], 'a-key-that-nobody-has').get('/v1/payments')
    await api.post('/v1/payments', webPayment)
    await api.get('/no/such/page')
    await api.get('/secure/none')
    await api.get(`/assets/${assets.css}`)
    await api.get('/v1/payments?referense=x')
  })
  const [post, get] = ['POST', 'GET'].map(method => ({ method, route: '/v1/payments' }))
  assert.deepEqual(lines.map(lasting), [
    { ...post, status: 422, code: 'P0102', field: 'return_url' },
    { ...post, status: 422, code: 'P0102', header: 'Idempotency-Key' },
    { ...get, status: 401, code: 'P0910' },
    { ...post, status: 201 },
    { ...get, route: null, status: 404, code: 'P0911' },
    { ...get, route: '/secure/:token', status: 404 },
    { ...get, status: 200 },
  ])
})

test('At the level debug the log has requests for assets, and no query', async () => {
  const lines = await linesOf('debug', async ({ baseUrl }) => {
    const api = createClient([baseUrl], FARTHING_API_KEY)
    await api.get(`/assets/${assets.css}`)
    await api.get('/v1/payments?referense=hidden-value')
  })
  const routes = lines.map(({ route }) => route)
  assert.deepEqual(routes, ['/assets/:name', '/v1/payments'])
  assert.doesNotMatch(JSON.stringify(lines), /referense|hidden-value/)
})

function printed(logger: string, program: string): string[] {
  const module = new URL('../src/core/log.ts', import.meta.url)
  const text = `import { createLogger } from ${JSON.stringify(module)}
    const logger = createLogger(${logger})
    ${program}`
  const args = ['--input-type=module', '--eval', text]
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout.trimEnd().split('\n')
}

test('At a terminal the line of a refused request ends with the code and the field', () => {
  const request = { method: 'POST', route: '/v1/payments', status: 422, ms: 4 }
  const lines = printed(
    `'info', true`,
    `logger.info(${JSON.stringify({ ...request, code: 'P0102', field: 'amount' })})
     logger.info(${JSON.stringify({ ...request, status: 201 })})`,
  )
  const shown = lines.map(line => line.replace(/^[\d:]+ +/, ''))
  assert.deepEqual(shown, ['POST /v1/payments 422 4 ms P0102 amount', 'POST /v1/payments 201 4 ms'])
})

test('The last line of an ending process is written, although an earlier write is still under way', () => {
  const lines = printed(
    `'info', false`,
    `logger.info('x'.repeat(10_000))
     logger.fatal('the last line')
     logger.written().then(() => process.exit(1))`,
  )
  assert.equal(JSON.parse(lines.at(-1) ?? '').msg, 'the last line')
})
