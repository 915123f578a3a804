import { seal } from '../accounts/seal.ts'
import { findLivingKey } from '../accounts/store.ts'
import type { Context } from '../context.ts'
import { unknownBearerKey } from '../errors.ts'
import { addressesOf } from '../http/addresses.ts'
import { iso } from '../time.ts'
import { readBody, textIn } from './body.ts'
import type { ControlEndpoint } from './docs.ts'

/** Milliseconds for which a link to enter the console works. */
export const ENTER_MS = 60_000

/** A page below /console, such as `payments/06h3k`. */
const PAGE = {
  pattern: /^[a-z]+(\/[0-9a-v]{1,26})?$/,
  rule: 'must be a page of the console, such as payments',
}

/** Makes a link with which a browser enters the console. It is sealed with the key of this request. */
export const enterConsole = ({ database, config, time }: Context): ControlEndpoint => ({
  method: 'POST',
  path: '/control/enter',
  operationId: 'enterConsole',
  summary: 'Make a link that opens the console, signed in',
  accepts: 'json',
  handler: async request => {
    const to = textIn(readBody(request, ['to']), 'to', PAGE) ?? 'payments'
    const { key_id, account } = request
    const key = await findLivingKey(database, key_id, config.apiKey)
    if (!key) throw unknownBearerKey()
    const expires = time.wall() + ENTER_MS
    const code = seal({ account: account.name, key_id, expires }, 'enter', key.hash)
    const url = enterUrl(addressesOf(request, config).api, code, to)
    return { url, expires: iso(expires) }
  },
})

export const enterUrl = (site: string, code: string, to: string): string =>
  `${site}/console/enter?${new URLSearchParams({ code, to })}`
