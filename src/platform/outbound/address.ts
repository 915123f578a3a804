/**
 * The callback address rule: the URLs to which this service may connect for a client (docs/spec-gaps.md). It is checked
 * at registration and again for every connection. Functions return the broken rule as text that completes a sentence
 * beginning with `callback_url`. The text never contains a resolved address, which would let a client map the network.
 */

import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import type { AllowedHosts, Config } from '../../core/config.ts'
import type { Resolve } from '../../core/ports.ts'

const isRefusedIPv4 = blocks('ipv4', {
  unspecified: ['0.0.0.0/8'],
  loopback: ['127.0.0.0/8'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  'link-local, with the metadata services of clouds': ['169.254.0.0/16'],
  'shared by carriers': ['100.64.0.0/10'],
  'IETF protocol assignments': ['192.0.0.0/24'],
  documentation: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  benchmarking: ['198.18.0.0/15'],
  '6to4 relays': ['192.88.99.0/24'],
  AS112: ['192.31.196.0/24', '192.175.48.0/24'],
  AMT: ['192.52.193.0/24'],
  multicast: ['224.0.0.0/4'],
  'reserved and broadcast': ['240.0.0.0/4'],
  'Azure platform, used inside Azure only': ['168.63.129.16/32'],
})

/** The only IPv6 block from which IANA allocates public addresses. */
const isGlobalIPv6 = blocks('ipv6', { 'global unicast': ['2000::/3'] })

const isRefusedIPv6 = blocks('ipv6', {
  'IETF protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID': ['2001::/23'],
  documentation: ['2001:db8::/32', '3fff::/20'],
  '6to4': ['2002::/16'],
  AS112: ['2620:4f:8000::/48'],
})

/** Top-level names with no meaning, or another meaning on each network. */
const REFUSED_ENDINGS = new Set([
  'localhost',
  'local',
  'localdomain',
  'internal',
  'intranet',
  'lan',
  'home',
  'corp',
  'invalid',
  'onion',
  'arpa',
])

const MUST_BE_HTTPS = 'must be an absolute https URL'
const MUST_BE_PUBLIC =
  'must lead to a public address, not to a loopback, private, link-local or reserved one'
const MUST_BE_PUBLIC_NAME =
  'must have a public host name: two or more labels, the last not one of ' +
  [...REFUSED_ENDINGS].join(', ')

/** Characters that are invisible, or that URL parsers drop or rewrite silently. */
const HIDDEN_CHARACTER = /[\s\\\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/u

/** Returns the rule that this callback URL breaks, or undefined. Does not resolve the host name. */
export function callbackUrlProblem(raw: string, allowed: AllowedHosts): string | undefined {
  if (HIDDEN_CHARACTER.test(raw)) {
    return 'must not contain white space, a backslash, or control or invisible characters'
  }
  // URL also accepts "https:host" and "https:/host", so the raw text is checked.
  const authority = /^https?:\/\/([^/?#]+)/i.exec(raw)?.[1]
  const url = URL.parse(raw)
  if (authority === undefined || url === null) return MUST_BE_HTTPS
  if (authority.includes('@')) return 'must not contain a user name or a password'
  if (url.port === '0') return 'must have a port from 1 to 65535, or none'
  if (isAllowed(url, allowed)) return undefined
  if (url.protocol !== 'https:') return MUST_BE_HTTPS
  return hostProblem(hostOf(url))
}

/** Also checks the host name's addresses. A name without any is accepted: each connection resolves it again. */
export async function registrationProblem(
  raw: string,
  config: Pick<Config, 'callbackHosts' | 'isLibrary'>,
  resolve: Resolve,
) {
  const { callbackHosts: allowed, isLibrary } = config
  const url = URL.parse(raw)
  const problem = callbackUrlProblem(raw, allowed)
  if (problem === MUST_BE_PUBLIC) return mustBePublic(isLibrary)
  if (problem === MUST_BE_HTTPS || problem === MUST_BE_PUBLIC_NAME)
    return problem + unlessListed('callbackHosts', isLibrary, url)
  if (problem !== undefined || url === null) return problem
  const host = hostOf(url)
  if (isAllowed(url, allowed) || isIP(host) !== 0) return undefined
  const addresses = await resolve(host)
  return addresses.every(isPublicAddress) ? undefined : mustBePublic(isLibrary)
}

/** The rule that an address breaks. It is the same text for every address, and repeats none. */
export const mustBePublic = (isLibrary = false): string =>
  MUST_BE_PUBLIC + unlessListed('callbackHosts', isLibrary)

const SETTINGS = {
  callbackHosts: 'FARTHING_CALLBACK_HOSTS',
  returnHosts: 'FARTHING_RETURN_HOSTS',
} as const

/** How to allow a host, for example the URL's. In the library its option comes first, as it reads no settings. */
export function unlessListed(
  option: keyof typeof SETTINGS,
  isLibrary: boolean,
  url: URL | null = null,
): string {
  const setting = SETTINGS[option]
  const named = isLibrary
    ? `option ${option} of startFarthing`
    : `setting ${setting} of the service`
  const sentence = `, unless the ${named} lists its host, alone or with this port`
  if (!/^https?:$/.test(url?.protocol ?? '') || !/^[\w.:[\]-]+$/.test(url?.host ?? ''))
    return sentence
  const call = `startFarthing({ ${option}: '${url?.host}' })`
  const line = `${setting}=${url?.host}`
  return `${sentence}: ${isLibrary ? `${call}, or for the service ${line}` : `${line}, or in a test ${call}`}`
}

/** The host to resolve, to connect to and to use for SNI: without brackets and final dot. */
export const hostOf = (url: URL): string =>
  url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')

export const isAllowed = (url: URL, allowed: AllowedHosts): boolean =>
  allowed.has(listedName(url)) || allowed.has(hostAndPort(url))

/** The entry that lists this URL's host with this port only. */
export function hostAndPort(url: URL): string {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return `${listedName(url)}:${port}`
}

/** Reads a list of `host` (any port) or `host:port`, with one problem for each entry that is neither. */
export function parseAllowedHosts(text: string): { hosts: AllowedHosts; problems: string[] } {
  const hosts = new Set<string>()
  const problems: string[] = []
  for (const entry of text.split(',').map(part => part.trim())) {
    const listed = allowedHost(entry)
    if (listed !== undefined) hosts.add(listed)
    else if (entry !== '')
      problems.push(`"${entry}" is not a host or host:port (IPv6 in brackets, no wildcards)`)
  }
  return { hosts, problems }
}

/** True for an IPv4 or IPv6 literal that is globally reachable; false for any other text. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !isRefusedIPv4(address)
  if (!isIPv6(address) || address.includes('%')) return false
  return isGlobalIPv6(address) && !isRefusedIPv6(address) && !isIsatap(address)
}

function hostProblem(host: string): string | undefined {
  if (isIP(host) !== 0) return isPublicAddress(host) ? undefined : MUST_BE_PUBLIC
  const labels = host.split('.')
  if (host.length > 253 || labels.some(label => label === '' || label.length > 63)) {
    return 'must have a host name of at most 253 characters, in labels of 1 to 63'
  }
  const ending = labels.at(-1) ?? ''
  return labels.length < 2 || REFUSED_ENDINGS.has(ending) ? MUST_BE_PUBLIC_NAME : undefined
}

function allowedHost(entry: string): string | undefined {
  const [, host, port] = /^(\[[^[\]]+\]|[^[\]:/?#@\\*\s]+)(?::(\d{1,5}))?$/.exec(entry) ?? []
  const url = URL.parse(`https://${host}`)
  if (host === undefined || url === null) return undefined
  if (port === undefined) return listedName(url)
  return Number(port) >= 1 && Number(port) <= 65535
    ? `${listedName(url)}:${Number(port)}`
    : undefined
}

/** Keeps the brackets of IPv6: without them `::1` with port 8443 would read as the address `::1:8443`. */
const listedName = (url: URL): string => url.hostname.replace(/\.$/, '')

/** Makes the list for the first address: at the start of the service it would take 3 % of the time. */
function blocks(family: 'ipv4' | 'ipv6', named: Record<string, string[]>) {
  let list: BlockList | undefined
  return (address: string): boolean => {
    if (!list) {
      list = new BlockList()
      for (const subnet of Object.values(named).flat()) {
        const [net = '', prefix] = subnet.split('/')
        list.addSubnet(net, Number(prefix), family)
      }
    }
    return list.check(address, family)
  }
}

/** ISATAP (RFC 5214): the interface identifier is 0:5efe and an IPv4 address. Ignores the u and g bits. */
function isIsatap(address: string): boolean {
  const [before = [], after = []] = address
    .replace(/:\d+\.\d+\.\d+\.\d+$/, ':0:0') // the value of the IPv4 part does not matter
    .split('::')
    .map(part => part.split(':').filter(Boolean))
  const gap = Array<string>(8 - before.length - after.length).fill('0')
  const [, , , , first, second] = [...before, ...gap, ...after].map(group => Number(`0x${group}`))
  return first !== undefined && (first & 0xfcff) === 0 && second === 0x5efe
}
