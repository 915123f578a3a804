import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createResolve, parseHosts } from '../../src/outbound/resolve.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'farthing-hosts-'))
const hostsFile = join(folder, 'hosts')
let dns: DnsServer

before(async () => {
  dns = await startDnsServer({
    'dual.example.com': { addresses: ['93.184.215.14', '2606:2800:21f::1'] },
    'six.example.com': { addresses: ['2606:2800:21f::2'] },
    'slow-1.example.com': { silent: 'both' },
    'slow-2.example.com': { silent: 'both' },
    'slow-3.example.com': { silent: 'both' },
    'slow-4.example.com': { silent: 'both' },
    'slow-5.example.com': { silent: 'both' },
    'half.example.com': { addresses: ['93.184.215.15'], silent: 'AAAA' },
    'nowhere.example.com': {},
    'listed.example.com': { addresses: ['93.184.215.16'] },
  })
})
after(() => {
  dns.close()
  rmSync(folder, { recursive: true })
})

function resolver(hosts?: string) {
  if (hosts === undefined) rmSync(hostsFile, { force: true })
  else writeFileSync(hostsFile, hosts)
  return createResolve({ hostsFile, servers: [dns.server] })
}

async function timed<Result>(work: Promise<Result>): Promise<[Result, milliseconds: number]> {
  const started = performance.now()
  const result = await work
  return [result, performance.now() - started]
}

describe('A name', () => {
  test('is resolved to its IPv4 and IPv6 addresses by DNS', async () => {
    const resolve = resolver()
    assert.deepEqual(await resolve('dual.example.com'), ['93.184.215.14', '2606:2800:21f::1'])
    assert.deepEqual(await resolve('six.example.com'), ['2606:2800:21f::2'])
  })

  test('that does not exist or has no address is answered with an empty list', async () => {
    const resolve = resolver()
    assert.deepEqual(await resolve('unknown.example.com'), [])
    assert.deepEqual(await resolve('nowhere.example.com'), [])
    assert.deepEqual(await resolve('..'), [])
  })

  test('is answered with an empty list when no DNS server answers at all', async () => {
    const unreachable = createResolve({ hostsFile, servers: ['127.0.0.1:1'] })
    assert.deepEqual(await unreachable('dual.example.com'), [])
  })

  test('is asked again each time, so that a changed address is seen', async () => {
    const resolve = resolver()
    const before = dns.questions.length
    await resolve('dual.example.com')
    await resolve('dual.example.com')
    assert.equal(dns.questions.length - before, 4)
  })

  test('is asked once for all who ask at the same time', async () => {
    const resolve = resolver()
    const before = dns.questions.length
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => resolve('dual.example.com')),
    )
    assert.ok(answers.every(addresses => addresses.length === 2))
    assert.equal(dns.questions.length - before, 2)
  })

  test('without an answer costs one second, and holds up no other', async () => {
    const resolve = resolver()
    const slow = [1, 2, 3, 4, 5].map(each => timed(resolve(`slow-${each}.example.com`)))
    const half = timed(resolve('half.example.com'))
    const [answer, quick] = await timed(resolve('dual.example.com'))
    assert.equal(answer.length, 2)
    assert.ok(quick < 500, `${quick} ms`)
    for (const [addresses, took] of await Promise.all(slow)) {
      assert.deepEqual(addresses, [])
      assert.ok(took > 900 && took < 1500, `${took} ms`)
    }
    assert.deepEqual((await half)[0], ['93.184.215.15'], 'one half of the answer is an answer')
  })
})

describe('The hosts file', () => {
  test('is asked before DNS', async () => {
    const resolve = resolver('127.0.0.1 listed.example.com')
    const before = dns.questions.length
    assert.deepEqual(await resolve('Listed.Example.com'), ['127.0.0.1'])
    assert.equal(dns.questions.length, before)
  })

  test('is read again when it was changed, and need not be there', async () => {
    const resolve = resolver()
    assert.deepEqual(await resolve('listed.example.com'), ['93.184.215.16'])
    writeFileSync(hostsFile, '10.0.0.1 listed.example.com\n')
    assert.deepEqual(await resolve('listed.example.com'), ['10.0.0.1'])
    writeFileSync(hostsFile, '10.0.0.22 listed.example.com\n')
    assert.deepEqual(await resolve('listed.example.com'), ['10.0.0.22'])
    rmSync(hostsFile)
    assert.deepEqual(await resolve('listed.example.com'), ['93.184.215.16'])
  })

  test('may have comments, tabs, several names a line and several lines a name', () => {
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

  test('does not have to list localhost', async () => {
    const resolve = resolver()
    const before = dns.questions.length
    assert.deepEqual(await resolve('localhost'), ['127.0.0.1', '::1'])
    assert.deepEqual(await resolve('receiver.localhost'), ['127.0.0.1', '::1'])
    assert.equal(dns.questions.length, before)
  })
})
