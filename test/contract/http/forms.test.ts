import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { FORM_BYTES, FORM_FIELDS } from '../../../src/core/budgets.ts'
import { multipartBody } from '../../../src/platform/http/body.ts'
import { assertError } from '../../support/assertions.ts'
import { authorise, card } from '../../support/journeys.ts'
import { planning } from '../../support/plans.ts'
import { onEveryDatabase } from '../../support/service.ts'

onEveryDatabase('A form', { control: true }, service => {
  const { plan, send } = planning(service)

  test('has at most 16 KiB and 100 fields, wherever one is sent', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    const page = new URL(payment._links.next_url.href).pathname
    for (const path of ['/v1/auth', '/secure', page, '/console/sign-in', '/console/enter']) {
      const post = async (body: string) => {
        const { status, text } = await send(api, path, { method: 'POST', body, headers: FORM })
        return [status, path === '/v1/auth' && JSON.parse(text).code]
      }
      const asRead = await post('a=b')
      assert.deepEqual(await post(`${'a&'.repeat(FORM_FIELDS - 1)}a`), asRead)
      assert.deepEqual(await post(`a=${'b'.repeat(FORM_BYTES - 2)}`), asRead)
      const [tooMany, code] = await post('a&'.repeat(FORM_FIELDS))
      assert.deepEqual([tooMany, code], [422, path === '/v1/auth' && 'P0102'], path)
      const [tooLong, reason] = await post(`a=${'b'.repeat(FORM_BYTES - 1)}`)
      assert.deepEqual([tooLong, reason], [413, path === '/v1/auth' && 'P0913'], path)
    }
    const { body } = await api.get(`/v1/payments/${payment.payment_id}`)
    assert.equal(body.state.status, 'created')
  })

  test('is parsed once, although plans, the handler and the record read it', async t => {
    const api = await service().newAccount()
    await plan(api, { on: 'authorisePayment', skip: 9, answer: { status: 503 } })
    const payment = await api.createPayment({ authorisation_mode: 'moto_api' })
    const { params } = payment._links.auth_url_post
    const body = new URLSearchParams({ ...params, ...card }).toString()
    const parsed: unknown[] = []
    const Real = globalThis.URLSearchParams
    t.after(() => {
      globalThis.URLSearchParams = Real
    })
    globalThis.URLSearchParams = class extends Real {
      constructor(init?: ConstructorParameters<typeof Real>[0]) {
        super(init)
        parsed.push(init)
      }
    }
    const { status } = await send(api, '/v1/auth', { method: 'POST', body, headers: FORM })
    for (const { recorder } of service().apps) await recorder?.flush()
    assert.equal(status, 204)
    assert.equal(parsed.filter(init => init === body).length, 1)
    assertError(await authorise(api, payment), 400, 'P1212')
  })

  test('with files has at most 100 fields', async () => {
    const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
    const raw = { headersDistinct: { 'content-type': ['multipart/form-data; boundary=x'] } }
    const fieldsOf = async (count: number) => {
      const body = Buffer.from(`${part.repeat(count)}--x--\r\n`)
      const form = await multipartBody({ body, raw } as unknown as FastifyRequest) // it reads no more
      return form && [...form].length
    }
    assert.equal(await fieldsOf(FORM_FIELDS), FORM_FIELDS)
    assert.equal(await fieldsOf(FORM_FIELDS + 1), undefined)
  })
})

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
