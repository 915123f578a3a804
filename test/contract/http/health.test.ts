import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { healthEndpoints } from '../../../src/platform/http/health.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('HTTP: health checks', service => {
  test('/healthz and /readyz return 200 and status ok without an API key, and /healthcheck the same body as GOV.UK Pay', async () => {
    const ok = { status: 'ok' }
    const healthcheck = { ping: { healthy: true }, deadlocks: { healthy: true } }
    for (const [path, expected] of Object.entries({ healthz: ok, readyz: ok, healthcheck })) {
      const { status, body } = await service().anonymous.get(`/${path}`)
      assert.deepEqual([status, body], [200, expected])
    }
  })
})

test('100 requests to /readyz at once ask the database once', async () => {
  let checks = 0
  const check = async () => {
    checks += 1
    await setImmediate()
  }
  const endpoints = healthEndpoints({ database: { check } }, () => false)
  const readiness = endpoints.find(({ path }) => path === '/readyz')
  const request = {} as FastifyRequest
  const reply = {} as FastifyReply
  const bodies = await Promise.all(
    Array.from({ length: 100 }, () => readiness?.handler(request, reply)),
  )
  for (const body of bodies) assert.deepEqual(body, { status: 'ok' })
  assert.equal(checks, 1)
})
