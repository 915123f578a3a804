import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Client } from '../../support/client.ts'
import { assertAnswer, webParts } from '../../support/new-payment.ts'
import { onOneDatabase } from '../../support/service.ts'

const refusedAddresses: Record<string, string[]> = {
  'is not https': ['http://example.org/', 'HTTP://localhost/'],
  'is not an absolute address': ['/paid', 'example.org', '//example.org/', 'https:'],
  'has no host': ['https://', 'https:///path', 'https://?a'],
  'has fewer than two slashes after the scheme': ['https:example.org', 'https:/example.org'],
  'has an impossible host': ['https://a b/', 'https://[::1', 'https://ex%00ample/'],
  'has a scheme without an authority': ['javascript:alert(1)'],
  'contains white space or a line break': [
    'https://example.org/a b',
    ' https://example.org/',
    'https://example.org/\t',
    'https://example.org/\r\nSet-Cookie:a',
    'https://example.org/\n',
    'https://example.org/\u00a0',
    'https://example.org/\u2028',
  ],
  'contains a control character': ['https://example.org/\u0001', 'https://example.org/\u007f'],
  'has an impossible port': ['https://example.org:65536/', 'https://example.org:a/'],
}

const returnUrls = [
  'https://example.org',
  'https://localhost:8443/back?a=1&b=2#end',
  'https://192.168.1.1/',
  'https://[::1]/',
  'HTTPS://Example.Org/',
  'https://bücher.example/zurück?q=ü',
  'https://me:secret@example.org/',
  'https://example.org/a%20b%0A',
]

onOneDatabase('Payments: return_url', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })
  const post = (url: string, expected: string) =>
    assertAnswer(api, { ...webParts, return_url: JSON.stringify(url) }, expected)

  for (const [what, urls] of Object.entries(refusedAddresses))
    test(`a return_url that ${what} returns 422 P0102`, async () => {
      for (const url of urls) await post(url, '422 P0102 return_url')
    })

  test('a return_url with any host, scheme in any case and letters beyond ASCII is accepted and returned as sent', async () => {
    for (const url of returnUrls) assert.equal((await post(url, '201')).body.return_url, url)
  })
})
