/** The session of a browser in the console, and the cookies that keep it. */
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Account, accountIn, givenName, isAccountName, ownerOf } from '../../core/account.ts'
import type { Config } from '../../core/config.ts'
import { currentGuest } from '../../core/guests.ts'
import type { Database, Time } from '../../core/ports.ts'
import { askedFor, decodeAscii, pathOf } from '../http/addresses.ts'
import { isSealedBy, type Purpose, readSeal, seal } from './seal.ts'
import { accountBeforeEnd, accountOfName, findLivingKey, findTestAccount } from './store.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** The name in an address below `/console/a/NAME`. */
    inside?: string
    /** The account of that name was opened with the key of its parent. */
    isParents?: boolean
    /** The account of that name has ended: its pages can be read, but no action can be done on them. */
    hasEnded?: boolean
  }
}

const COOKIE = 'farthing_console'
/** The most cookies of that name that are tried: each costs a query. */
const MOST_TRIED = 8

/** Milliseconds for which a browser stays signed in. */
const SESSION_MS = 12 * 60 * 60 * 1000

type SessionPorts = { database: Database; config: Config; time: Time }

export type Session = { account: Account; key_id: string }

/** The account that a seal opens; undefined for any other text, or if the seal has expired or its key was revoked. */
export async function findSession(
  { database, config, time }: SessionPorts,
  text: string,
  purpose: Purpose,
): Promise<Session | undefined> {
  const sealed = readSeal(text)
  if (!sealed || sealed.expires <= time.wall()) return undefined
  const key = await findLivingKey(database, sealed.key_id, config.fixedKeys)
  if (key?.account !== sealed.account || !isSealedBy(text, purpose, key.hash)) return undefined
  const account = await accountOfName(database, sealed.account)
  return account && { account, key_id: sealed.key_id }
}

async function sessionOf(context: SessionPorts, request: FastifyRequest) {
  for (const value of cookiesNamed(request, COOKIE).slice(0, MOST_TRIED)) {
    const session = await findSession(context, value, 'session')
    if (session) return session
  }
  return undefined
}

/** The account that is signed in has no test account of the name in the address. */
export class NotInside extends Error {}

/** Sends `/console/a/NAME/payments` to the route of `/console/payments`, and keeps the name. */
export function routedInConsole(raw: IncomingMessage): string {
  const { url = '' } = raw
  const [prefix, name] = /^\/console\/a\/([^/?#]+)/.exec(url) ?? []
  if (prefix === undefined || name === undefined) return url
  raw.inside = decodeAscii(name)
  return `/console${url.slice(prefix.length)}`
}

/**
 * Sets account and key of the session. Below `/console/a/NAME` the account is the test account of that name: its own
 * key opens it, and its parent's key does so even after its end. False without a session. Throws `NotInside`.
 */
export async function signedIn(context: SessionPorts, request: FastifyRequest): Promise<boolean> {
  const session = await sessionOf(context, request)
  if (!session) return false
  request.account = session.account
  request.key_id = session.key_id
  currentGuest()?.become?.(ownerOf(session.account))
  const { inside } = request.raw
  if (inside === undefined) return true
  const { account, hasEnded } = await accountInside(context, session.account, inside)
  request.account = account
  request.raw.isParents = account !== session.account
  request.raw.hasEnded = hasEnded
  return true
}

async function accountInside({ database, time }: SessionPorts, own: Account, name: string) {
  if (own.parent !== null && givenName(own) === name) return { account: own, hasEnded: false }
  const testAccount = isAccountName(name)
    ? await findTestAccount(database, own.name, name)
    : undefined
  if (!testAccount) throw new NotInside(name)
  const account = accountIn(testAccount)
  if (testAccount.ended === 0) return { account, hasEnded: testAccount.expires <= time.wall() }
  const ended = await accountBeforeEnd(database, account)
  if (!ended) throw new NotInside(name)
  return { account: ended, hasEnded: true }
}

/** The values of a cookie: a browser sends several of one name if they were set below different paths. */
export const cookiesNamed = ({ headers }: FastifyRequest, cookieName: string): string[] =>
  (headers.cookie ?? '').split(';').flatMap(pair => {
    const [name, value = ''] = pair.trim().split('=', 2)
    return name === cookieName ? [value] : []
  })

/** Signs the browser in with a key that was just checked. Returns false if the key was revoked meanwhile. */
export async function startSession(
  { database, config, time }: SessionPorts,
  request: FastifyRequest,
  reply: FastifyReply,
  { account, key_id }: Session,
): Promise<boolean> {
  const key = await findLivingKey(database, key_id, config.fixedKeys)
  if (!key) return false
  const expires = time.wall() + SESSION_MS
  const value = seal({ account: account.name, key_id, expires }, 'session', key.hash)
  setCookie(request, reply, config, { name: COOKIE, value, seconds: SESSION_MS / 1000 })
  return true
}

export const endSession = (request: FastifyRequest, reply: FastifyReply, config: Config): void =>
  setCookie(request, reply, config, { name: COOKIE, value: '', seconds: 0 })

/** Sets a cookie for the console's path. If a proxy hides it, the browser takes the page's path, which is the same. */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  { name, value, seconds }: { name: string; value: string; seconds: number },
): void {
  const { scheme, host } = askedFor(request, config)
  const configured = [config.pagesUrl, config.baseUrl].filter(url => url !== undefined)
  const used = configured.find(url => new URL(url).host === host)
  const isKnown = used !== undefined || configured.length === 0
  const isSecure = used === undefined ? scheme === 'https' : used.startsWith('https:')
  const parts = [
    `${name}=${value}`,
    ...(isKnown ? [`Path=${pathOf(used)}/console`] : []),
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ]
  void reply.header('set-cookie', parts.join('; '))
}
