import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Client } from '../../support/client.ts'
import {
  activeAgreement,
  agreementParts,
  assertAnswer,
  DETAILS,
  motoParts,
  newAgreement,
  type Parts,
  webParts,
} from '../../support/new-payment.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const UNKNOWN = '06g5petm8gpatdosqb0u8c1mv7'

onOneDatabase('Payments: return_url', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })
  const expectAnswer = (parts: Parts, expected: string) =>
    assertAnswer(api, { ...webParts, ...parts }, expected)

  test('POST /v1/payments in web mode returns 400 P0101 without a return_url', async () => {
    for (const return_url of [undefined, 'null', '""', '" "'])
      await expectAnswer({ return_url }, '400 P0101 return_url')
  })

  test('a return_url with any host, scheme in any case and letters beyond ASCII is accepted and returned as sent', async () => {
    for (const url of [
      'https://example.org',
      'https://localhost:8443/back?a=1&b=2#end',
      'https://192.168.1.1/',
      'https://[::1]/',
      'HTTPS://Example.Org/',
      'https://bücher.example/zurück?q=ü',
      'https://me:secret@example.org/',
      'https://example.org/a%20b%0A',
    ]) {
      const { body } = await expectAnswer({ return_url: JSON.stringify(url) }, '201')
      assert.equal(body.return_url, url)
    }
  })

  for (const [sentence, urls] of Object.entries({
    'is not https': ['http://example.org/', 'HTTP://localhost/'],
    'is not an absolute address': ['/paid', 'example.org', '//example.org/', 'https:'],
    'has no host': ['https://', 'https:///path', 'https://?a'],
    'has fewer than two slashes after the scheme': ['https:example.org', 'https:/example.org'],
    'has an impossible host': ['https://a b/', 'https://[::1', 'https://ex%00ample/'],
    'has a scheme without an authority': ['javascript:alert(1)'],
    'contains white space': [
      'https://example.org/a b',
      ' https://example.org/',
      'https://example.org/\t',
    ],
    'contains a line break': ['https://example.org/\r\nSet-Cookie:a', 'https://example.org/\n'],
    'contains a control character': ['https://example.org/\u0001', 'https://example.org/\u007f'],
    'contains non-ASCII white space': ['https://example.org/\u00a0', 'https://example.org/\u2028'],
    'has an impossible port': ['https://example.org:65536/', 'https://example.org:a/'],
  }))
    test(`a return_url that ${sentence} returns 422 P0102`, async () => {
      for (const url of urls)
        await expectAnswer({ return_url: JSON.stringify(url) }, '422 P0102 return_url')
    })
})

onSharedDatabases('Payments: modes', service => {
  describe('moto_api mode', () => {
    let api: Client
    before(async () => {
      api = await service().newAccount()
    })
    const expectAnswer = (parts: Parts, expected: string) =>
      assertAnswer(api, { ...motoParts, ...parts }, expected)

    test('moto_api mode returns 400 P0104 for a return_url, even for an invalid one', async () => {
      for (const url of ['"https://example.org/"', '"http://example.org/"', '"no address"'])
        await expectAnswer({ return_url: url }, '400 P0104 return_url')
    })

    test('moto_api mode returns 400 P0104 for a set_up_agreement, even for one that exists', async () => {
      for (const id of [UNKNOWN, await newAgreement(api)])
        await expectAnswer({ set_up_agreement: JSON.stringify(id) }, '400 P0104 set_up_agreement')
    })

    test('a payment in moto_api mode has moto true even when the request says false', async () => {
      const { body } = await expectAnswer({ moto: 'false' }, '201')
      assert.equal(body.moto, true)
    })

    test('moto_api mode accepts delayed_capture, email, metadata and prefilled details', async () => {
      await expectAnswer(
        {
          delayed_capture: 'true',
          email: '"a@example.org"',
          metadata: '{}',
          [`${DETAILS}.billing_address.city`]: '"A"',
        },
        '201',
      )
    })
  })

  describe('agreement mode', () => {
    let api: Client
    let base: Parts
    before(async () => {
      api = await service().newAccount()
      base = agreementParts(await activeAgreement(api))
    })
    const expectAnswer = (parts: Parts, expected: string) =>
      assertAnswer(api, { ...base, ...parts }, expected)

    for (const [name, value] of [
      ['return_url', '"https://example.org/"'],
      ['set_up_agreement', `"${UNKNOWN}"`],
      ['moto', 'true'],
      ['email', '"a@example.org"'],
      [DETAILS, '{"cardholder_name":"A"}'],
      [DETAILS, '{"billing_address":{"city":"A"}}'],
    ] as const)
      test(`agreement mode returns 400 P0104 for ${name} ${value}`, async () => {
        await expectAnswer({ [name]: value }, `400 P0104 ${name}`)
      })

    test('agreement_id returns 400 P0102 for an agreement that the account does not have', async () => {
      const other = await activeAgreement(await service().newAccount())
      for (const id of [UNKNOWN, other]) {
        const { body } = await expectAnswer(
          { agreement_id: JSON.stringify(id) },
          '400 P0102 agreement_id',
        )
        assert.match(body.description, /Agreement does not exist/, 'clients look for these words')
      }
    })

    test('agreement_id returns 400 P0102 for an agreement that is not active', async () => {
      const created = await newAgreement(api)
      await expectAnswer({ agreement_id: JSON.stringify(created) }, '400 P0102 agreement_id')
      const cancelled = await activeAgreement(api)
      await expectAnswer({ agreement_id: JSON.stringify(cancelled) }, '201')
      await api.post(`/v1/agreements/${cancelled}/cancel`)
      await expectAnswer({ agreement_id: JSON.stringify(cancelled) }, '400 P0102 agreement_id')
    })
  })
})
