import type { AddressInfo, Server } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'

/** Where this service is, as clients and browsers see it; neither ends with a slash. */
export type Addresses = { api: string; pages: string }

/** In the examples of the documentation, where a reader's own addresses take their place. */
export const exampleAddresses: Addresses = {
  api: 'https://farthing.example',
  pages: 'https://pages.farthing.example',
}

const HOST = /^[A-Za-z0-9._~[\]:-]+$/
/** A name of 253 characters and a port. */
const LONGEST_HOST = 259

/**
 * The addresses that links are made of: the configured ones or, without them, that of the request.
 * A Host that is missing or no host name counts as the address that the service listens on.
 */
export function addressesOf(request: FastifyRequest, config: Config): Addresses {
  const api = config.baseUrl ?? requestAddress(request, config)
  return { api, pages: config.pagesUrl ?? api }
}

/** The path of a configured address: '' or, say, '/farthing'. Without one it is the request's host, which has no path. */
export const pathOf = (address: string | undefined): string =>
  address === undefined ? '' : new URL(address).pathname.replace(/\/$/, '')

/** The last usable address: most clients send the same Host again and again. */
let remembered = { scheme: '', host: '', address: '' }

function requestAddress({ headers, socket }: FastifyRequest, config: Config): string {
  const forwarded = (name: string) =>
    config.trustProxy
      ? String(headers[name] ?? '')
          .split(',')[0]
          ?.trim()
      : undefined
  const scheme = forwarded('x-forwarded-proto')?.toLowerCase() === 'https' ? 'https' : 'http'
  const host = forwarded('x-forwarded-host') || headers.host || ''
  if (scheme !== remembered.scheme || host !== remembered.host) {
    if (host.length > LONGEST_HOST || !HOST.test(host) || !URL.canParse(`${scheme}://${host}`))
      return `${scheme}://${ownHost(config.host, socket.localPort ?? config.port)}`
    remembered = { scheme, host, address: addressOf(scheme, '://', host) }
  }
  return remembered.address
}

/** Where a server is that listens on `host`, as a link. */
export function linkTo(host: string, server: Server): string {
  const { port } = server.address() as AddressInfo // a TCP server has no other kind
  return `http://${ownHost(host, port)}`
}

/** What to call this machine in a link, when it listens on `host`: an address, a name, or all there are. */
function ownHost(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** An address in one piece: JSON.stringify takes twice as long over texts that were added up. */
export const addressOf = (...parts: string[]): string => parts.join('')

/** SPEC *Links*: a link as it is printed. Addresses are absolute. */
export const getLink = (href: string) => ({ href, method: 'GET' }) as const

/** One to post a form to; `params` are the form's fields. */
export const postLink = (href: string, params: Record<string, string> = {}) =>
  ({ href, method: 'POST', type: 'application/x-www-form-urlencoded', params }) as const
