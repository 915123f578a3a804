import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  callbackUrlProblem,
  isAllowed,
  parseAllowedHosts,
  registrationProblem,
} from '../../src/platform/outbound/address.ts'

const listing = (hosts: string, isLibrary = false) => ({
  callbackHosts: parseAllowedHosts(hosts).hosts,
  isLibrary,
})
const noneAllowed = listing('')

function problemOf(url: string, allowed = ''): string | undefined {
  return callbackUrlProblem(url, parseAllowedHosts(allowed).hosts)
}

test('A callback_url whose name has no address is registered.', async () => {
  const problem = registrationProblem('https://nx.example.com/', noneAllowed, async () => [])
  assert.equal(await problem, undefined)
})

test('An IP address, a refused name and a listed host are not resolved at registration.', async () => {
  const hosts = listing('listed.example.com')
  for (const host of ['8.8.8.8', '[2606:2800:21f::1]', 'db.internal', 'listed.example.com']) {
    const resolve = async () => assert.fail(`resolved ${host}`)
    await assert.doesNotReject(registrationProblem(`https://${host}/`, hosts, resolve))
  }
})

test('A name is resolved at registration without its final dot.', async () => {
  const asked: string[] = []
  const resolve = async (host: string) => {
    asked.push(host)
    return []
  }
  await registrationProblem('https://Hooks.Example.com./', noneAllowed, resolve)
  assert.deepEqual(asked, ['hooks.example.com'])
})

const rules: [rule: RegExp, urls: string[]][] = [
  [/^must be an absolute https URL$/, ['http://a.com/', 'https:a.com', 'https://']],
  [/user name or a password/, ['https://u:p@a.com/', 'https://@a.com/']],
  [/port from 1 to 65535/, ['https://a.com:0/']],
  [/white space/, ['https://a.com/ ', 'https://a.com/\u200b', 'https://a\\b.com/']],
  [/two or more labels/, ['https://intranet/', 'https://a.local/', 'https://printer.HOME./']],
  [/253 characters, in labels of 1 to 63/, ['https://a..com/', 'https://a.com../']],
  [/public address/, ['https://127.1/', 'https://[::1]/', 'https://①②⑦.0.0.1/']],
]
for (const [rule, urls] of rules) {
  test(`The error text names the broken rule: ${rule.source}`, () => {
    for (const url of urls) assert.match(problemOf(url) ?? '', rule, url)
  })
}

test('The error of an address that could be listed ends with what to set for its host, which then is accepted.', async () => {
  const noAddress = async () => []
  for (const [url, host] of [
    ['http://127.0.0.1:5000/hooks', '127.0.0.1:5000'],
    ['http://shop.test/', 'shop.test'],
    ['http://[::1]:82/', '[::1]:82'],
    ['https://LOCALHOST:4000', 'localhost:4000'],
  ] as const) {
    const line = `FARTHING_CALLBACK_HOSTS=${host}`
    const call = `startFarthing({ callbackHosts: '${host}' })`
    const text = (await registrationProblem(url, noneAllowed, noAddress)) ?? ''
    assert.ok(text.endsWith(`with this port: ${line}, or in a test ${call}`), text)
    const inTest = (await registrationProblem(url, listing('', true), noAddress)) ?? ''
    assert.ok(inTest.endsWith(`with this port: ${call}, or for the service ${line}`), inTest)
    assert.ok(!inTest.replace(line, '').includes('FARTHING_'), 'its own way comes first')
    assert.equal(await registrationProblem(url, listing(host), noAddress), undefined)
  }
  for (const url of ['https://me@localhost:4000/', 'https://127.0.0.1:4000', 'http://a$(b)c/'])
    assert.doesNotMatch((await registrationProblem(url, noneAllowed, noAddress)) ?? '', /HOSTS=/)
})

test('A label has at most 63 characters, and a name 253 without its final dot.', () => {
  const label = 'a'.repeat(63)
  const longest = [label, label, label, 'a'.repeat(57), 'com'].join('.')
  assert.equal(longest.length, 253)
  assert.equal(problemOf(`https://${longest}./`), undefined)
  assert.match(problemOf(`https://${longest.replace('.com', 'a.com')}/`) ?? '', /253/)
  assert.match(problemOf(`https://a${label}.com/`) ?? '', /63/)
})

test('Every private top-level name is refused, and names that resemble one are accepted.', () => {
  const endings = 'localhost local localdomain internal intranet lan home corp invalid onion arpa'
  for (const ending of endings.split(' ')) {
    assert.match(problemOf(`https://${ending}/`) ?? '', /public host name/)
    assert.match(problemOf(`https://a.${ending}/`) ?? '', /public host name/)
    assert.equal(problemOf(`https://${ending}.example.com/`), undefined)
    assert.equal(problemOf(`https://a.my${ending}/`), undefined)
  }
  assert.match(problemOf('https://router.home.arpa/') ?? '', /public host name/)
})

test('A host listed without a port is exempt at every port, over https and http.', () => {
  for (const url of ['HTTPS://localhost/', 'http://localhost/', 'http://LOCALHOST.:8080/x']) {
    assert.equal(problemOf(url, 'localhost'), undefined, url)
  }
  assert.notEqual(problemOf('http://localhost.example.com/', 'localhost'), undefined)
})

test('A host listed with a port is exempt at that port only, also at a default port.', () => {
  assert.equal(problemOf('http://receiver:8080/', 'receiver:8080'), undefined)
  assert.notEqual(problemOf('http://receiver:8081/', 'receiver:8080'), undefined)
  assert.equal(problemOf('https://receiver/', 'receiver:443'), undefined)
  assert.equal(problemOf('http://receiver/', 'receiver:80'), undefined)
  assert.notEqual(problemOf('http://receiver/', 'receiver:443'), undefined)
})

test('IP addresses may be listed in any notation, IPv6 in brackets.', () => {
  const { hosts, problems } = parseAllowedHosts('127.1, [0:0::1]:8443 ,[::2]')
  assert.deepEqual(problems, [])
  assert.deepEqual([...hosts], ['127.0.0.1', '[::1]:8443', '[::2]'])
  assert.ok(isAllowed(new URL('https://[::1]:8443/'), hosts))
  assert.ok(!isAllowed(new URL('https://[::1]/'), hosts))
  assert.ok(!isAllowed(new URL('https://[::1:8443]/'), hosts))
})

test('A listed host does not change the rules about the form.', () => {
  const bad = ['ftp://localhost/', 'http:localhost', 'http://u@localhost/', 'http://localhost:0/']
  for (const url of [...bad, ' http://localhost/', 'http://localhost\\x', 'http:///localhost/']) {
    assert.notEqual(problemOf(url, 'localhost'), undefined, url)
  }
})

test('Each invalid entry is one problem, and the others are kept.', () => {
  const bad = ['http://a', 'a b', ...'a/b a:0 a:65536 a:b ::1 [::1 * *.a u@a'.split(' ')]
  const { hosts, problems } = parseAllowedHosts([...bad, 'good', '', 'Good.:1'].join(','))
  assert.equal(problems.length, bad.length)
  assert.match(problems[0] ?? '', /^"http:\/\/a" is not a host or host:port/)
  assert.deepEqual([...hosts], ['good', 'good:1'])
})
