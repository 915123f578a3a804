/** Whether GOV.UK Pay accepts a return_url, by the steps of its validator and with the same top-level domains. */
import { isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { isTopLevelDomain } from './top-level-domains.ts'

/** The characters that java.net.URI accepts nowhere: controls, white space, and those that must be percent-encoded. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about control characters
const NOWHERE = /[\u0000-\u0020\u007f-\u00a0\s"<>\\^`{|}]/
const BAD_ESCAPE = /%(?![\da-f]{2})/i
const PARTS = /^https?:\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is
const AUTHORITY = /^(?:[^@:[\]]+(?::[^@[\]]*)?@)?(\[[^\]]*\]|[^@:[\]]*)(?::(\d*))?$/
const PATH = /^\/[\w\-:@&?=+,.!/~*'%$;()]*$/

export function isReturnAddress(url: string): boolean {
  if (NOWHERE.test(url) || BAD_ESCAPE.test(url)) return false
  const [, authority = '', path = '', query = '', fragment = ''] = PARTS.exec(url) ?? []
  const [, host = '', port = ''] = AUTHORITY.exec(authority) ?? []
  return (
    !`${query}${fragment}`.includes('#') &&
    Number(port) <= 65_535 &&
    isHost(host) &&
    (path === '' || (PATH.test(path) && !climbs(path)))
  )
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) return isIPv6(host.slice(1, -1))
  const ascii = /^[\0-\x7f]*$/.test(host) ? host : domainToASCII(host)
  if (!/^[a-z\d.-]+$/i.test(ascii)) return false
  if (/^[\d.]+$/.test(ascii) && ascii.includes('.')) return isAddress(ascii)
  const isRooted = ascii.endsWith('.') && ascii.indexOf('.') < ascii.length - 1
  const labels = (isRooted ? ascii.slice(0, -1) : ascii).split('.')
  const last = labels.at(-1) ?? ''
  return (
    ascii.length <= 253 &&
    labels.every(label => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i.test(label)) &&
    (labels.length === 1 ? !ascii.endsWith('.') : isTopLevelDomain(last))
  )
}

/** Whether the host is an IPv4 address without leading zeros. */
const isAddress = (host: string): boolean =>
  host.split('.').length === 4 &&
  host.split('.').every(part => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)

/** Whether the path, once decoded, leads above its root. Double slashes stay, as java.net.URI keeps them there. */
function climbs(path: string): boolean {
  const decoded = path.replace(/%2e/gi, '.').replace(/%2f/gi, '/')
  let depth = 0
  for (const segment of decoded.split('/')) {
    if (segment === '..') depth -= 1
    else if (segment !== '' && segment !== '.') depth += 1
    if (depth < 0) return true
  }
  return false
}
