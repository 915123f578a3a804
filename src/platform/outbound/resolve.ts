/** The hosts file, then DNS. `dns.lookup` would block one of four threads without a time limit. */
import { Resolver } from 'node:dns/promises'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { ADDRESSES } from '../../core/budgets.ts'
import type { Resolve } from '../../core/ports.ts'

const HOSTS_FILE =
  process.platform === 'win32' ? 'C:/Windows/System32/drivers/etc/hosts' : '/etc/hosts'

/** Milliseconds for one look-up: both record types, with retries. */
const TIME_LIMIT_MS = 1000
const RESOLVER_LIVES_MS = 5000

type ResolveOptions = {
  hostsFile?: string
  /** DNS servers as `address:port`, instead of the machine's. */
  servers?: string[]
}

/**
 * Looks in the hosts file first. `localhost` and its subdomains are loopback. DNS is asked for other names, without
 * search domains. Concurrent look-ups of one name share one query. Nothing is cached after that.
 */
export function createResolve(options: ResolveOptions = {}): Resolve {
  const lookInHostsFile = hostsFileReader(options.hostsFile ?? HOSTS_FILE)
  const resolver = resolverSource(options.servers)
  const pending = new Map<string, Promise<string[]>>()
  return async host => {
    const name = host.toLowerCase()
    const listed = lookInHostsFile(name)
    if (listed !== undefined) return listed
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const addresses =
      pending.get(name) ?? askDns(name, resolver()).finally(() => pending.delete(name))
    pending.set(name, addresses)
    return addresses
  }
}

/** Parses a hosts file into a map from name, in lower case, to addresses. Skips invalid lines. */
export function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split(/\r?\n/)) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names.map(text => text.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), address])
    }
  }
  return hosts
}

/** Looks names up in a hosts file, which is read again when it changes. An unreadable file has no names. */
function hostsFileReader(file: string): (name: string) => string[] | undefined {
  let hosts = new Map<string, string[]>()
  let version = ''
  return name => {
    try {
      const { mtimeMs, size, ino } = statSync(file)
      const state = `${mtimeMs} ${size} ${ino}`
      if (state !== version) hosts = parseHosts(readFileSync(file, 'utf8'))
      version = state
    } catch {
      hosts = new Map()
      version = ''
    }
    return hosts.get(name)
  }
}

/** Asks DNS for both record types. Returns the addresses that come within the time limit. */
async function askDns(name: string, resolver: Resolver): Promise<string[]> {
  const timeUp = setTimeout(TIME_LIMIT_MS, [], { ref: false })
  const questions = [resolver.resolve4(name), resolver.resolve6(name)]
  const answers = await Promise.all(
    questions.map(question => Promise.race([question.catch(() => []), timeUp])),
  )
  // Each message checks all addresses: 2,300 of IPv6 took 10 ms, in one turn for all messages that had waited.
  return answers.flatMap(addresses => addresses.slice(0, ADDRESSES))
}

/** One Resolver for all look-ups. A new one replaces it, as none notices when the machine's DNS servers change. */
function resolverSource(servers: string[] | undefined): () => Resolver {
  let current: Resolver | undefined
  return () => {
    if (current) return current
    current = new Resolver({ timeout: TIME_LIMIT_MS / 2, tries: 2 })
    if (servers) current.setServers(servers)
    void setTimeout(RESOLVER_LIVES_MS, undefined, { ref: false }).then(() => {
      current = undefined
    })
    return current
  }
}
