import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Client } from '../../support/client.ts'
import { payOnPages } from '../../support/journeys.ts'
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
import { onEveryDatabase } from '../../support/service.ts'

const UNKNOWN = '06g5petm8gpatdosqb0u8c1mv7'

onEveryDatabase('POST /v1/payments in web mode', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })
  const answers = (parts: Parts, expected: string) =>
    assertAnswer(api, { ...webParts, ...parts }, expected)

  test('needs a return_url: 400 P0101', async () => {
    for (const return_url of [undefined, 'null', '""', '" "'])
      await answers({ return_url }, '400 P0101 return_url')
  })

  describe('takes as return_url', () => {
    for (const [sentence, url] of [
      ['an https address', 'https://example.org'],
      ['any host, also this machine', 'https://localhost:8443/back?a=1&b=2#end'],
      ['an address of a private network', 'https://192.168.1.1/'],
      ['an IPv6 address', 'https://[::1]/'],
      ['a scheme in any case', 'HTTPS://Example.Org/'],
      ['letters beyond ASCII', 'https://bücher.example/zurück?q=ü'],
      ['a name and a password', 'https://me:secret@example.org/'],
      ['percent-encoded white space', 'https://example.org/a%20b%0A'],
    ])
      test(`${sentence}, and gives it back exactly as sent`, async () => {
        const { body } = await answers({ return_url: JSON.stringify(url) }, '201')
        assert.equal(body.return_url, url)
      })
  })

  describe('refuses with 422 P0102 as return_url', () => {
    for (const [sentence, urls] of Object.entries({
      'what is not https': ['http://example.org/', 'ftp://example.org/', 'HTTP://localhost/'],
      'what is no absolute address': ['/paid', 'example.org', '//example.org/', 'https', 'https:'],
      'an address without a host': ['https://', 'https:///path', 'https://?a', 'https://#a'],
      'an address without its two slashes': ['https:example.org', 'https:/example.org'],
      'a host that there cannot be': ['https://a b/', 'https://[::1', 'https://ex%00ample/'],
      'a scheme without an authority': ['javascript:alert(1)', 'mailto:a@example.org', 'data:,a'],
      'white space': ['https://example.org/a b', ' https://example.org/', 'https://example.org/\t'],
      'a line break': ['https://example.org/\r\nSet-Cookie:a', 'https://example.org/\n'],
      'a control character': ['https://example.org/\u0001', 'https://example.org/\u007f'],
      'white space beyond ASCII': ['https://example.org/\u00a0', 'https://example.org/\u2028'],
      'a port that there cannot be': ['https://example.org:65536/', 'https://example.org:a/'],
    }))
      test(sentence, async () => {
        for (const url of urls)
          await answers({ return_url: JSON.stringify(url) }, '422 P0102 return_url')
      })
  })

  test('takes set_up_agreement of an agreement in any status', async () => {
    const created = await newAgreement(api)
    const active = await activeAgreement(api)
    const cancelled = await newAgreement(api)
    await api.post(`/v1/agreements/${cancelled}/cancel`)
    for (const id of [created, active, cancelled])
      await answers({ set_up_agreement: JSON.stringify(id) }, '201')
  })

  test('refuses set_up_agreement of no agreement of this account: 400 P0103', async () => {
    const other = await newAgreement(await service().newAccount())
    for (const id of [UNKNOWN, other])
      await answers({ set_up_agreement: JSON.stringify(id) }, '400 P0103 set_up_agreement')
  })

  test('takes moto, delayed_capture, email and prefilled details', async () => {
    await answers(
      {
        moto: 'true',
        delayed_capture: 'true',
        email: '"a@example.org"',
        [`${DETAILS}.cardholder_name`]: '"A"',
      },
      '201',
    )
  })
})

onEveryDatabase('POST /v1/payments in moto_api mode', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })
  const answers = (parts: Parts, expected: string) =>
    assertAnswer(api, { ...motoParts, ...parts }, expected)

  test('allows no return_url, not even a wrong one: 400 P0104', async () => {
    for (const url of ['"https://example.org/"', '"http://example.org/"', '"no address"'])
      await answers({ return_url: url }, '400 P0104 return_url')
  })

  test('allows no set_up_agreement, not even one that exists: 400 P0104', async () => {
    for (const id of [UNKNOWN, await newAgreement(api)])
      await answers({ set_up_agreement: JSON.stringify(id) }, '400 P0104 set_up_agreement')
  })

  test('is moto also when moto is false', async () => {
    const { body } = await answers({ moto: 'false' }, '201')
    assert.equal(body.moto, true)
  })

  test('takes delayed_capture, email, metadata and prefilled details', async () => {
    await answers(
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

onEveryDatabase('POST /v1/payments in agreement mode', service => {
  let api: Client
  let base: Parts
  before(async () => {
    api = await service().newAccount()
    base = agreementParts(await activeAgreement(api))
  })
  const answers = (parts: Parts, expected: string) =>
    assertAnswer(api, { ...base, ...parts }, expected)

  for (const [name, value] of [
    ['return_url', '"https://example.org/"'],
    ['set_up_agreement', `"${UNKNOWN}"`],
    ['moto', 'true'],
    ['email', '"a@example.org"'],
    [DETAILS, '{"cardholder_name":"A"}'],
    [DETAILS, '{"billing_address":{"city":"A"}}'],
  ] as const)
    test(`allows no ${name} ${value}: 400 P0104`, async () => {
      await answers({ [name]: value }, `400 P0104 ${name}`)
    })

  test('takes delayed_capture and metadata', async () => {
    const parts = { delayed_capture: 'true', metadata: '{"a":1}', moto: 'false' }
    const { body } = await answers(parts, '201')
    assert.equal(body.state.status, 'capturable')
  })

  test('refuses agreement_id of no agreement of this account: 400 P0102', async () => {
    const other = await activeAgreement(await service().newAccount())
    for (const id of [UNKNOWN, other]) {
      const { body } = await answers({ agreement_id: JSON.stringify(id) }, '400 P0102 agreement_id')
      assert.match(body.description, /Agreement does not exist/, 'clients look for these words')
    }
  })

  test('refuses an agreement that is not active: 400 P0102', async () => {
    const created = await newAgreement(api)
    await answers({ agreement_id: JSON.stringify(created) }, '400 P0102 agreement_id')
    const cancelled = await activeAgreement(api)
    await answers({ agreement_id: JSON.stringify(cancelled) }, '201')
    await api.post(`/v1/agreements/${cancelled}/cancel`)
    await answers({ agreement_id: JSON.stringify(cancelled) }, '400 P0102 agreement_id')
  })

  test('takes an agreement again that another payment has set up anew', async () => {
    const set_up_agreement = await activeAgreement(api)
    await api.post(`/v1/agreements/${set_up_agreement}/cancel`)
    await payOnPages(api, await api.createPayment({ set_up_agreement }))
    await answers({ agreement_id: JSON.stringify(set_up_agreement) }, '201')
  })
})
