/** A visit to a page of the console: the person, the account, and the values in the address. */

import type { FastifyRequest } from 'fastify'
import { type Account, givenName } from '../../../core/account.ts'
import type { Config } from '../../../core/config.ts'
import type { AccountTime, MachineTime } from '../../../core/ports.ts'
import { isStorable } from '../../../core/values.ts'
import { CONSOLE_PAGE } from '../../../platform/accounts/seal.ts'
import { type Addresses, addressesOf } from '../../../platform/http/addresses.ts'
import type { Endpoint } from '../../../platform/http/endpoint.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import type { ToolContext } from '../../context.ts'

type Entry = { path: string; text: string }

/** An entry of the navigation with its pages. It leads to the first of them. */
export type Section = {
  text: string
  pages: readonly Entry[]
  /** Pages outside the console, by their paths. */
  others?: readonly Entry[]
  /** Whether the entry shows the number of fails of the check. */
  isCounted?: true
}

export type ConsoleContext = ToolContext & {
  /** The endpoints whose requests the console shows. */
  operations: readonly Endpoint[]
  /** The words for each operation, by its operationId. */
  summaries: ReadonlyMap<string, string>
  sections: readonly Section[]
}

/** One request for a page of the console. */
export type Visit = {
  request: FastifyRequest
  config: Config
  sections: readonly Section[]
  /**
   * The beginning of relative links to pages of the account. It leads from the address of this page to `/console/`, or
   * for a test account to `/console/a/NAME/`.
   */
  root: string
  /** The relative address of the home page, without a slash at its end. */
  home: string
  /** The relative address of the front page of the service, without a slash at its end. */
  site: string
  /** `/console`, or for a test account `/console/a/NAME`. */
  base: string
  addresses: Addresses
  /** undefined on the pages where nobody is signed in. */
  account: Account | undefined
  /** The account's time. */
  now?: AccountTime
  /** Whether the account has ended: its pages can only be read. */
  hasEnded?: boolean | undefined
}

/** A visit by somebody who is signed in. */
export type AccountVisit = Visit & {
  context: ConsoleContext
  account: Account
  now: AccountTime
  /** The machine's time. */
  wall: MachineTime
}

/**
 * Links are relative, so that the console works at every address of the service. Each slash of the request's path below
 * `/console` is one level.
 */
function placeOf({ originalUrl }: FastifyRequest): Pick<Visit, 'root' | 'home' | 'site' | 'base'> {
  const [path = ''] = originalUrl.split('?', 1)
  const [inside] = /^\/console\/a\/[^/]+/.exec(path) ?? []
  const base = inside ?? '/console'
  const name = base.slice(base.lastIndexOf('/') + 1)
  const levels = path.slice(base.length).split('/').length - 2
  const root = levels < 0 ? `${name}/` : '../'.repeat(levels)
  return { root, home: `${root}../${name}`, site: `${root}${inside ? '../../..' : '..'}`, base }
}

/** The address of a test account's pages, relative to the root of its parent's pages: `a/NAME`. */
export const insideOf = (account: Pick<Account, 'name'>): string =>
  `a/${encodeURIComponent(givenName(account))}`

/** The visit as if outside a test account: its links begin at `/console`, where the pages to sign in are. */
export const outside = (visit: Visit): Visit =>
  visit.base === '/console'
    ? visit
    : {
        ...visit,
        root: `${visit.site}/console/`,
        home: `${visit.site}/console`,
        base: '/console',
      }

export const visitOf = (
  request: FastifyRequest,
  { config, sections }: Pick<ConsoleContext, 'config' | 'sections'>,
): Visit => ({
  request,
  config,
  sections,
  ...placeOf(request),
  addresses: addressesOf(request, config),
  account: undefined,
})

export function accountVisitOf(request: FastifyRequest, context: ConsoleContext): AccountVisit {
  const { account } = request
  const { hasEnded } = request.raw
  const { time } = context
  const times = { now: time.now(account), wall: time.wall() }
  return { ...visitOf(request, context), context, account, ...times, hasEnded }
}

/** The named parameters of the query. A missing, repeated or unusable parameter is ''. */
export function textsIn<Name extends string>({ request }: Visit, names: readonly Name[]) {
  const query = request.query as Record<string, unknown> // Fastify types it as unknown
  const read = names.map(name => {
    const value = Object.hasOwn(query, name) ? query[name] : undefined
    return [name, typeof value === 'string' && isStorable(value) ? value : '']
  })
  return Object.fromEntries(read) as Record<Name, string> // each name was read
}

/** An address of the console without the leading `/console/`; undefined if no page can have this address. */
export function pageOfAddress(url: string): string | undefined {
  const [, path = '', query = ''] = /^([^?]*)(?:\?([!-~]*))?$/.exec(url) ?? []
  const page = path.replace(/^\/console\//, '').replace(/\/$/, '')
  if (!CONSOLE_PAGE.test(page)) return undefined
  return query ? `${page}?${query}` : page
}

/** The address of the page to sign in, which leads back to `page` afterwards. */
export const signInFirst = (page: string | undefined): string =>
  page === undefined ? 'sign-in' : `sign-in?${new URLSearchParams({ to: page })}`

/** `page?name=value`, without the parameters that are undefined or ''. */
export function pageAddress(page: string, parameters: Record<string, string | undefined>): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value ? [[name, value]] : [],
  )
  return pairs.length > 0 ? `${page}?${new URLSearchParams(pairs)}` : page
}

/** Returns the thing. Throws a 404 for a thing that is unknown, gone, or another account's. */
export function existing<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw pageFault(404)
  return thing
}
