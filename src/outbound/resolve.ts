/**
 * The real Resolve: the machine's hosts file, then DNS. `dns.lookup` would do both, but it shares four
 * threads and knows no time limit, so one slow name would hold up every other.
 */
import { Resolver } from 'node:dns/promises'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import type { Resolve } from '../ports.ts'

const HOSTS_FILE =
  process.platform === 'win32' ? 'C:/Windows/System32/drivers/etc/hosts' : '/etc/hosts'

/** All questions of one look-up together take no longer, in milliseconds. */
const TIME_LIMIT_MS = 1000

export type ResolveOptions = {
  hostsFile?: string
  /** DNS servers as `address:port`, instead of the machine's. */
  servers?: string[]
}

/**
 * Makes a Resolve. Names in the hosts file are answered from it, as it is at that moment; `localhost`
 * is always loopback; every other name is asked of DNS as it stands, without search domains. Who asks
 * for a name while its answer is under way gets the same answer: a burst of messages is one question.
 */
export function createResolve(options: ResolveOptions = {}): Resolve {
  const lookInHostsFile = hostsFileReader(options.hostsFile ?? HOSTS_FILE)
  const underWay = new Map<string, Promise<string[]>>()
  return async host => {
    const name = host.toLowerCase()
    const listed = lookInHostsFile(name)
    if (listed !== undefined) return listed
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const answer =
      underWay.get(name) ?? askDns(name, options.servers).finally(() => underWay.delete(name))
    underWay.set(name, answer)
    return answer
  }
}

/** Name (lower case) to addresses, from the text of a hosts file. Lines that make no sense are skipped. */
export function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split(/\r?\n/)) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names.map(each => each.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), address])
    }
  }
  return hosts
}

/** Looks names up in a hosts file, read again whenever it was changed. A file out of reach has no names. */
function hostsFileReader(file: string): (name: string) => string[] | undefined {
  let hosts = new Map<string, string[]>()
  let version = ''
  return name => {
    try {
      const { mtimeMs, size, ino } = statSync(file)
      const found = `${mtimeMs} ${size} ${ino}`
      if (found !== version) hosts = parseHosts(readFileSync(file, 'utf8'))
      version = found
    } catch {
      hosts = new Map()
      version = ''
    }
    return hosts.get(name)
  }
}

/**
 * A resolver of its own for each look-up: cancelling it at the time limit cancels no other, and a
 * change of the machine's DNS servers is seen at once.
 */
async function askDns(name: string, servers: string[] | undefined): Promise<string[]> {
  const resolver = new Resolver({ timeout: TIME_LIMIT_MS / 2, tries: 2 })
  if (servers) resolver.setServers(servers)
  const limit = setTimeout(() => resolver.cancel(), TIME_LIMIT_MS)
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  clearTimeout(limit)
  return answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
}
