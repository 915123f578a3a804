import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isReturnAddress } from '../../src/pay/differences/return-address.ts'

const words = (text: string): string[] => text.trim().split(/\s+/)

test('GOV.UK Pay takes addresses with a known top-level domain, a single name or an IP address, with any port', () => {
  const taken = words(`
    https://a.com HTTPS://A.COM http://localhost https://my-app/back https://123 https://exämple.com https://a.com./x
    https://host.docker.internal/x https://app.local https://x.localdomain/ https://home.arpa/ https://x.gov.uk
    https://127.0.0.1 https://[::1]:8080/x https://a.com:080/ https://a.com:/x https://a.com:65535
    https://name@a.com/ https://name:word@a.com`)
  for (const url of taken) assert.ok(isReturnAddress(url), url)
  const refused = words(`
    https://a.test https://a.example https://a.invalid https://a.lan https://a.onion https://例え.テスト https://a_b.com
    https://-a.com https://a..com https://localhost. https://1.2.3 https://01.2.3.4 https://256.1.1.1 https://[::g]
    https://a.com:65536 https://a.com:8a/ https://:word@a.com https:/a.com https:a.com https:///a ftp://a.com mailto:a@b.com`)
  for (const url of refused) assert.ok(!isReturnAddress(url), url)
})

test('GOV.UK Pay takes a path of ASCII below its root, and no character that a URI must encode', () => {
  const taken = words(
    `/a/../x /a/.. //x /%C3%A9 /x?q=é[] /#/route /x?a=b#c[ ?x /~a;b=(c)!*'$,+@&=:. /%2e/x`,
  )
  for (const rest of taken) assert.ok(isReturnAddress(`https://a.com${rest}`), rest)
  const refused = words(`
    /../x /.. /a/../../x /a//../../b /%2e%2e/x /a%2f..%2f..%2fb /é /[x] /{x} /x?{ /#{ /#a#b /%zz /% /x| /<x /x^ /x\` /x"
    /x\\y`)
  for (const rest of refused) assert.ok(!isReturnAddress(`https://a.com${rest}`), rest)
  for (const url of ['', '   ', 'https://a.com/ x', 'https://a.com/\t', 'https://a.com/\u0000'])
    assert.ok(!isReturnAddress(url), JSON.stringify(url))
})
