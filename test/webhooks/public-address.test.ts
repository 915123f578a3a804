import assert from 'node:assert/strict'
import { test } from 'node:test'
import ipaddr from 'ipaddr.js'
import { isPublicAddress } from '../../src/platform/outbound/address.ts'
import { fc } from '../support/properties.ts'

const edges: [outside: string, first: string, last: string, outside: string][] = [
  ['1.0.0.0', '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.31.195.255', '192.31.196.0', '192.31.196.255', '192.31.197.0'],
  ['192.52.192.255', '192.52.193.0', '192.52.193.255', '192.52.194.0'],
  ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['192.175.47.255', '192.175.48.0', '192.175.48.255', '192.175.49.0'],
  ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['223.255.255.255', '224.0.0.0', '255.255.255.255', '1.1.1.1'],
  ['2001:200::', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db7:ffff::', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2001:ffff:ffff::', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['2620:4f:7fff::', '2620:4f:8000::', '2620:4f:8000:ffff::', '2620:4f:8001::'],
  ['3ffe:ffff::', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ['2003::', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['2003::', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
]
test('The first and the last address of each special range are refused, and their neighbours are public.', () => {
  for (const range of edges)
    assert.deepEqual(range.map(isPublicAddress), [true, false, false, true], `${range}`)
})

test('Text that is not a canonical IP literal is not a public address.', () => {
  const words = 'localhost 08.8.8.8 0x8.8.8.8 8.8.8 [2606::1]'.split(' ')
  for (const text of [...words, '', '8.8.8.8 ']) assert.equal(isPublicAddress(text), false, text)
  assert.equal(isPublicAddress('2606:2800:21f::1%eth0'), false, 'a zone')
  assert.equal(isPublicAddress('2606:2800:21f::93.184.215.14'), true, 'IPv4 at its end')
})

const ipv6 = fc
  .tuple(
    fc.oneof(fc.constantFrom(0x2001, 0x2002, 0x2620, 0x2606, 0x3fff, 0x64, 0), fc.nat(0xffff)),
    fc.oneof(fc.constantFrom(0, 2, 0xdb8, 0x4f, 0xff9b), fc.nat(0xffff)),
    fc.array(fc.oneof(fc.constantFrom(0, 0x200, 0x5efe, 0xffff), fc.nat(0xffff)), {
      minLength: 6,
      maxLength: 6,
    }),
  )
  .map(([first, second, rest]) =>
    [first, second, ...rest].map(group => group.toString(16)).join(':'),
  )

/** Addresses that Farthing refuses and ipaddr.js accepts. The reverse never occurs. */
function isKnownDifference(text: string): boolean {
  const address = ipaddr.parse(text)
  if (!(address instanceof ipaddr.IPv6)) return text === '168.63.129.16'
  const [first = 0, , , , fifth = 0, sixth] = address.parts
  const unallocated = first < 0x2000 || first > 0x3fff
  return unallocated || (sixth === 0x5efe && (fifth & ~0x300) === 0)
}

test('Every public address is unicast for ipaddr.js, every refused one is special or a known difference, and all notations of one count alike.', () => {
  const sample = fc.property(fc.oneof(fc.ipV4(), ipv6), text => {
    const address = ipaddr.parse(text)
    const isUnicast = address.range() === 'unicast'
    const isPublic = isPublicAddress(text)
    if (isPublic) assert.ok(isUnicast, `${text} is ${address.range()}`)
    else assert.ok(!isUnicast || isKnownDifference(text), `${text} is public for ipaddr.js`)
    const long = text
      .toUpperCase()
      .replaceAll(/(?<=^|:)\w{1,3}(?=:|$)/g, group => group.padStart(4, '0'))
    for (const same of [address.toString(), long])
      assert.equal(isPublicAddress(same), isPublic, same)
  })
  fc.assert(sample, { numRuns: 10_000 })
})

test('An IPv6 address that embeds a private IPv4 address is refused.', () => {
  const privateIpv4 = fc
    .tuple(
      fc.constantFrom('10.1', '127.0', '169.254', '192.168', '172.20', '100.64'),
      fc.nat(65_535),
    )
    .map(([start, rest]) => `${start}.${rest >> 8}.${rest & 255}`)
  const anySubnet = fc.tuple(fc.integer({ min: 0x2000, max: 0x3fff }), fc.nat(0xffff))
  fc.assert(
    fc.property(privateIpv4, anySubnet, (quad, [first, second]) => {
      const [a = 0, b = 0, c = 0, d = 0] = quad.split('.').map(Number)
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
      const inverted = `${(~((a << 8) | b) & 0xffff).toString(16)}:${(~((c << 8) | d) & 0xffff).toString(16)}`
      const subnet = `${first.toString(16)}:${second.toString(16)}`
      const forms = [
        `::${quad}`,
        `::ffff:${quad}`,
        `::ffff:0:${quad}`,
        `64:ff9b::${quad}`,
        `64:ff9b:1::${quad}`,
        `2002:${hex}::1`,
        `2001:0:808:808:0:0:${inverted}`,
        `${subnet}::5efe:${quad}`,
        `${subnet}::200:5efe:${quad}`,
      ]
      for (const form of forms) assert.equal(isPublicAddress(form), false, form)
    }),
    { numRuns: 2_000 },
  )
})
