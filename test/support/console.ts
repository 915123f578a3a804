import assert from 'node:assert/strict'
import type { Behaviour } from '../../src/core/account.ts'
import { classed, elementsOf, type Found, only, tagged, withId } from '../hosted/document.ts'
import type { Client } from './client.ts'
import { ask } from './control.ts'
import type { Service } from './service.ts'

export type Shown = Awaited<ReturnType<typeof shown>>

export type Console = ReturnType<typeof consoleOf>

/** A FormData is sent as a form with files, a text as it is. */
export type Fields = Record<string, string> | string[][] | FormData | string

/** `status` is 304 if nothing has changed. */
export type Look = { status: number; newer: number; ago: number }

type Instances = Pick<Service, 'apps' | 'baseUrls'>

let asked = 0

const BANNER = 'farthing_console_done='

/** A browser without scripts, signed in to one account at most. Its requests go to each instance in turn. */
export function consoleOf({ apps, baseUrls }: Instances, cookie?: string) {
  // The browser keeps the banner that a redirect leaves, until a page takes it.
  let banner = ''
  const ask = async (path: string, init: RequestInit): Promise<Shown> => {
    for (const { recorder } of apps) await recorder?.flush()
    const url = `${baseUrls[asked++ % baseUrls.length]}/console${path && `/${path}`}`
    const cookies = [cookie, banner].filter(Boolean).join('; ')
    const headers = { ...(cookies && { Cookie: cookies }), ...init.headers }
    const response = await fetch(url, { ...init, redirect: 'manual', headers })
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';')
      if (pair.startsWith(BANNER)) banner = set.includes('Max-Age=0') ? '' : pair
    }
    return shown(response, url)
  }
  return {
    cookie,
    /** `path` is below /console. */
    get: (path: string, headers: Record<string, string> = {}) => ask(path, { headers }),
    post: (path: string, fields: Fields = {}, headers: Record<string, string> = {}) => {
      const isReady = typeof fields === 'string' || fields instanceof FormData
      const body = isReady ? fields : new URLSearchParams(fields)
      return ask(path, { method: 'POST', body, headers })
    },
    /** Asks, as the script of a live page does, whether the page is still up to date. */
    look: async (path: string, page: Shown): Promise<Look> => {
      const { attributes } = only(page.elements, each => 'data-live' in each.attributes)
      const { 'data-live': shown = '', 'data-account': account = '' } = attributes
      const asking = { 'If-None-Match': shown, 'Farthing-Account': account }
      const { status, headers } = await ask(path, { method: 'HEAD', headers: asking })
      const said = (name: string) => Number(headers.get(`farthing-${name}`))
      return { status, newer: said('newer'), ago: said('ago') }
    },
  }
}

async function shown(response: Response, url: string) {
  const html = await response.text()
  const location = response.headers.get('location')
  const elements = elementsOf(html)
  const main = elements.find(tagged('main'))
  const banner = response.headers.getSetCookie().find(set => set.startsWith(BANNER))
  return {
    status: response.status,
    headers: response.headers,
    /** The target of a redirect from the root of the console: `payments?status=failed`, or '' for home. */
    location: location === null ? undefined : belowConsole(new URL(location, url)),
    /** The banner that a redirect leaves for the next page: `captured`. */
    done: banner?.slice(BANNER.length).split(/[.;]/, 1)[0] || undefined,
    html,
    elements,
    text: (main?.text ?? '').replace(/\s+/g, ' ').trim(),
  }
}

function belowConsole({ pathname, search }: URL): string {
  assert.match(pathname, /^\/console(\/|$)/)
  return pathname.slice('/console/'.length) + search
}

/** The cookie that a response sets, as the browser sends it back. */
export function cookieIn({ headers }: Shown): string {
  const [pair = ''] = headers.getSetCookie()[0]?.split(';') ?? []
  assert.match(pair, /^farthing_console=.+/)
  return pair
}

/** The code of a link for signing in, as `farthing open` prints it. */
export async function codeOf(service: Instances, api: Client, to = 'payments'): Promise<string> {
  const { body } = await ask(service, api, 'enter', { to })
  return new URL(body.url).searchParams.get('code') ?? ''
}

export async function signIn(service: Instances, { key = '' }: Pick<Client, 'key'>) {
  const entered = await consoleOf(service).post('sign-in', { key })
  assert.equal(entered.status, 303, entered.text)
  return consoleOf(service, cookieIn(entered))
}

export async function enter(
  service: Instances & Pick<Service, 'namedAccount'>,
  behaviour?: Behaviour,
) {
  const { api, name } = await service.namedAccount(behaviour)
  return { api, name, browser: await signIn(service, api) }
}

export const headingOf = ({ elements }: Shown): string => textOf(only(elements, tagged('h1')))

export const byId = ({ elements }: Shown, id: string): Found => only(elements, withId(id))

/** The target of the first link with this text, from the root of the console; '' without one. */
export function linkIn({ elements }: Shown, text: string | RegExp): string {
  const fits = (said: string) => (typeof text === 'string' ? said === text : text.test(said))
  const link = elements.filter(tagged('a')).find(each => fits(textOf(each)))
  return link?.attributes.href?.replace(/^(\.\.\/)*(console\/)?/, '') ?? ''
}

/** The steps of a timeline, each as one text with single spaces. */
export const stepsOf = ({ elements }: Shown): string[] =>
  elements.filter(classed('farthing-step')).map(textOf)

/** The texts of the cells of the table with this caption, or of the first table, row by row, without the headings of days. */
export function rowsOf({ elements }: Shown, caption?: string): string[][] {
  const captionOf = ({ inside }: Found) => inside.find(tagged('caption'))?.text
  const tables = elements.filter(tagged('table'))
  const table = tables.find(each => caption === undefined || captionOf(each) === caption)
  const body = table?.inside.find(tagged('tbody'))
  return (body?.inside ?? [])
    .filter(tagged('tr'))
    .map(({ inside }) => inside.filter(({ tag }) => tag === 'th' || tag === 'td').map(textOf))
    .filter(([first = '']) => !DAY.test(first))
}

/** The texts of one column of the first table; the first column without `nth`. */
export const columnOf = (page: Shown, nth = 0): string[] =>
  rowsOf(page).map(cells => cells[nth] ?? '')

export const textOf = ({ text }: Found): string => text.replace(/\s+/g, ' ').trim()

const DAY = /^\w+day \d+ \w+ \d{4}$/
