import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { queryObjects } from 'node:v8'
import { ADDRESSES } from '../../src/core/budgets.ts'
import { createResolve, parseHosts } from '../../src/platform/outbound/resolve.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { tempFolder } from '../support/folders.ts'
import { endsWithin } from '../support/time.ts'

const hostsFile = join(tempFolder(), 'hosts')
let dns: DnsServer
const many = ['93.184.215.', '2606:2800:21f::'].flatMap(net =>
  Array.from({ length: 20 }, (_, i) => `${net}${i + 10}`),
)

const slow = [1, 2, 3, 4, 5].map(nth => `slow-${nth}.example.com`)

before(async () => {
  dns = await startDnsServer({
    'dual.example.com': { addresses: ['93.184.215.14', '2606:2800:21f::1'] },
    'six.example.com': { addresses: ['2606:2800:21f::2'] },
    ...Object.fromEntries(slow.map(name => [name, { silent: 'both' }] as const)),
    'half.example.com': { addresses: ['93.184.215.15'], silent: 'AAAA' },
    'nowhere.example.com': {},
    'many.example.com': { addresses: many },
    'listed.example.com': { addresses: ['93.184.215.16'] },
  })
})
after(() => dns.close())

function resolver(hosts?: string) {
  if (hosts === undefined) rmSync(hostsFile, { force: true })
  else writeFileSync(hostsFile, hosts)
  return createResolve({ hostsFile, servers: [dns.server] })
}

test('A name resolves to its IPv4 and IPv6 addresses.', async () => {
  const resolve = resolver()
  assert.deepEqual(await resolve('dual.example.com'), ['93.184.215.14', '2606:2800:21f::1'])
  assert.deepEqual(await resolve('six.example.com'), ['2606:2800:21f::2'])
})

test('Of each kind a name has the first 16 addresses.', async () => {
  const used = [...many.slice(0, ADDRESSES), ...many.slice(20, 20 + ADDRESSES)]
  assert.deepEqual(await resolver()('many.example.com'), used)
})

test('A name that does not exist or has no address resolves to an empty list, and so does each when no DNS server responds.', async () => {
  const resolve = resolver()
  assert.deepEqual(await resolve('unknown.example.com'), [])
  assert.deepEqual(await resolve('nowhere.example.com'), [])
  assert.deepEqual(await resolve('..'), [])
  const unreachable = createResolve({ hostsFile, servers: ['127.0.0.1:1'] })
  assert.deepEqual(await unreachable('dual.example.com'), [])
})

test('Each look-up queries DNS again, so that a changed address is noticed.', async () => {
  const resolve = resolver()
  const before = dns.questions.length
  await resolve('dual.example.com')
  await resolve('dual.example.com')
  assert.ok(dns.questions.length - before >= 4, 'more if the answer was late')
})

test('Concurrent look-ups of a name share one query.', async () => {
  const resolve = resolver()
  const before = dns.questions.length
  const answers = await Promise.all(Array.from({ length: 500 }, () => resolve('dual.example.com')))
  assert.ok(answers.every(addresses => addresses.length === 2))
  assert.ok(dns.questions.length - before <= 4, 'two questions, each asked again at most once')
})

test('A name without a response takes one second and delays no other name.', async () => {
  const resolve = resolver()
  const started = performance.now()
  const answers = slow.map(resolve)
  const inTime = endsWithin(Promise.all(answers), 4_500)
  const half = resolve('half.example.com')
  const first = await Promise.race([resolve('dual.example.com'), ...answers])
  assert.equal(first.length, 2)
  assert.deepEqual(await Promise.all(answers), [[], [], [], [], []])
  assert.ok(performance.now() - started > 900)
  assert.ok(await inTime)
  assert.deepEqual(await half, ['93.184.215.15'], 'one record type is enough')
})

test('Look-ups of many names at once share one resolver.', async () => {
  const resolve = resolver()
  const count = () => queryObjects(Resolver, { format: 'count' })
  const before = count()
  const names = Array.from({ length: 50 }, (_, i) => `none-${i}.example.com`)
  const answers = names.map(name => resolve(name))
  assert.ok(count() - before <= 1, `${count() - before} resolvers`)
  await Promise.all(answers)
})

test('The hosts file takes precedence over DNS.', async () => {
  const resolve = resolver('127.0.0.1 listed.example.com')
  const before = dns.questions.length
  assert.deepEqual(await resolve('Listed.Example.com'), ['127.0.0.1'])
  assert.equal(dns.questions.length, before)
})

test('The hosts file is read again after each change, and may be absent.', async () => {
  const resolve = resolver()
  assert.deepEqual(await resolve('listed.example.com'), ['93.184.215.16'])
  writeFileSync(hostsFile, '10.0.0.1 listed.example.com\n')
  assert.deepEqual(await resolve('listed.example.com'), ['10.0.0.1'])
  writeFileSync(hostsFile, '10.0.0.22 listed.example.com\n')
  assert.deepEqual(await resolve('listed.example.com'), ['10.0.0.22'])
  rmSync(hostsFile)
  assert.deepEqual(await resolve('listed.example.com'), ['93.184.215.16'])
})

test('The parser of the hosts file accepts comments, tabs, several names on a line and several lines for a name.', () => {
  const text = [
    '# 1.1.1.1 commented.example',
    '127.0.0.1\tlocalhost LOCALHOST.localdomain # 2.2.2.2 no',
    '   ::1   localhost ip6-localhost  ',
    'fe80::1%lo0 localhost',
    'not-an-address name.example',
    '9.9.9.9',
    '',
  ].join('\r\n')
  assert.deepEqual(Object.fromEntries(parseHosts(text)), {
    localhost: ['127.0.0.1', '::1', 'fe80::1%lo0'],
    'localhost.localdomain': ['127.0.0.1'],
    'ip6-localhost': ['::1'],
  })
})

test('The name localhost and its subdomains are loopback without an entry.', async () => {
  const resolve = resolver()
  const before = dns.questions.length
  assert.deepEqual(await resolve('localhost'), ['127.0.0.1', '::1'])
  assert.deepEqual(await resolve('receiver.localhost'), ['127.0.0.1', '::1'])
  assert.equal(dns.questions.length, before)
})
