import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import { webPayment } from '../../support/client.ts'
import { newPayment } from '../../support/journeys.ts'
import { onOneDatabase } from '../../support/service.ts'

onOneDatabase(
  'Hosted pages: FARTHING_RETURN_HOSTS',
  { env: { FARTHING_RETURN_HOSTS: 'localhost:8080,shop.internal' } },
  service => {
    test('a return_url may be http if its host is listed, alone or with this port', async () => {
      const api = await service().newAccount()
      for (const return_url of [
        'http://localhost:8080/return?x=1',
        'HTTP://LOCALHOST:8080',
        'http://shop.internal/',
        'http://shop.internal:9000/',
      ])
        assert.equal((await api.createPayment({ return_url })).return_url, return_url)
      for (const return_url of [
        'http://localhost/',
        'http://localhost:8081/',
        'http://x@shop.internal.example.org/',
        'ftp://shop.internal/',
      ]) {
        const answer = await api.post('/v1/payments', { ...webPayment, return_url })
        assertError(answer, 422, 'P0102', { field: 'return_url' })
        assert.match(answer.body.description, /FARTHING_RETURN_HOSTS/)
        const { host, protocol } = new URL(return_url)
        if (protocol === 'http:')
          assert.ok(
            answer.body.description.endsWith(
              `: FARTHING_RETURN_HOSTS=${host}, or in a test startFarthing({ returnHosts: '${host}' })`,
            ),
          )
      }
    })

    test('the pages allow their forms to lead to every http address, because the listed sites may lead on', async () => {
      const { payment } = await newPayment(service())
      const { headers } = await service().anonymous.get(payment._links.next_url.href)
      assert.match(
        headers.get('content-security-policy') ?? '',
        /; form-action 'self' https: http:;/,
      )
    })
  },
)
