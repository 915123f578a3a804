import type { AddressInfo, Server } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../../core/config.ts'
import { flat } from '../../core/flat.ts'

/** The addresses of this service for clients and for browsers. Neither ends with a slash. */
export type Addresses = { api: string; pages: string }

/** Placeholders in the examples of the documentation; the reader's addresses replace them. */
export const exampleAddresses: Addresses = {
  api: 'https://farthing.example',
  pages: 'https://pages.farthing.example',
}

const HOST = /^[A-Za-z0-9._~[\]:-]+$/
/** Characters: a name of 253, a colon and a port. */
const LONGEST_HOST = 259

/** The addresses that links begin with: configured, from the request's Host or, if that is no host name, our own. */
export function addressesOf(request: FastifyRequest, config: Config): Addresses {
  const api = config.baseUrl ?? requestAddress(request, config)
  return { api, pages: config.pagesUrl ?? api }
}

/** The addresses for links outside a request. `base_url`: the address at which a client found the API. */
export function keptAddresses(config: Config, base_url: string | undefined): Addresses {
  const api = config.baseUrl ?? base_url ?? `http://${ownHost(config.host, config.port)}`
  return { api, pages: config.pagesUrl ?? api }
}

/** The path of a configured address, such as '/farthing'; '' without one. */
export const pathOf = (address: string | undefined): string =>
  address === undefined ? '' : new URL(address).pathname.replace(/\/$/, '')

/** The last valid address: most clients always send the same Host (see src/core/flat.ts). */
let remembered = { scheme: '', host: '', address: '' }

/** The value of a header that a proxy sets. Behind several proxies, the first value is about the client's request. */
const forwarded = ({ headers }: FastifyRequest, name: 'proto' | 'host'): string | undefined =>
  headers[`x-forwarded-${name}`]?.toString().split(',')[0]?.trim()

const saysHttps = (request: FastifyRequest): boolean =>
  forwarded(request, 'proto')?.toLowerCase() === 'https'

/** The scheme and host that the client used, by its own or a trusted proxy's headers. Nothing is checked. */
export function askedFor(request: FastifyRequest, { trustProxy }: Config) {
  const scheme = trustProxy && saysHttps(request) ? 'https' : 'http'
  return { scheme, host: (trustProxy && forwarded(request, 'host')) || request.headers.host || '' }
}

const warned = new WeakSet<Config>()

function requestAddress(request: FastifyRequest, config: Config): string {
  // Links begin with http although the browser used https. There is one warning for each start.
  if (!config.trustProxy && saysHttps(request) && !warned.has(config)) {
    warned.add(config)
    request.log.warn(
      'a proxy says X-Forwarded-Proto: https, but links begin with http: set FARTHING_TRUST_PROXY=true or FARTHING_BASE_URL',
    )
  }
  const { scheme, host } = askedFor(request, config)
  if (scheme !== remembered.scheme || host !== remembered.host) {
    if (host.length > LONGEST_HOST || !HOST.test(host) || !URL.canParse(`${scheme}://${host}`))
      return `${scheme}://${ownHost(config.host, request.socket.localPort ?? config.port)}`
    remembered = { scheme, host, address: flat(scheme, '://', host) }
  }
  return remembered.address
}

export function linkTo(host: string, server: Server): string {
  const { port } = server.address() as AddressInfo // a TCP server has no other kind
  return `http://${ownHost(host, port)}`
}

function ownHost(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** Specification, *Links*. `href` is absolute. */
export const getLink = (href: string) => ({ href, method: 'GET' }) as const

/** A link for posting a form; `params` are the form's fields. */
export const postLink = (href: string, params: Record<string, string> = {}) =>
  ({ href, method: 'POST', type: 'application/x-www-form-urlencoded', params }) as const

/** Decodes the percent-encoded characters of ASCII. It never fails. */
export const decodeAscii = (text: string): string =>
  text.replace(/%([0-7][0-9a-f])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
