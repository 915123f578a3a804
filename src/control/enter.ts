import { seal } from '../accounts/seal.ts'
import { findLivingKey } from '../accounts/store.ts'
import type { Context } from '../context.ts'
import { unknownBearerKey } from '../errors.ts'
import { addressesOf } from '../http/addresses.ts'
import { iso } from '../time.ts'
import { readBody } from './body.ts'
import type { ControlEndpoint } from './docs.ts'
import { badField } from './errors.ts'

/** Milliseconds for which a link to enter the console works. */
export const ENTER_MS = 60_000

/** A page below /console, such as `payments/06h3k`. */
const PAGE = /^[a-z]+(\/[0-9a-v]{1,26})?$/

/** Makes a link with which a browser enters the console. It is sealed with the key of this request. */
export const enterConsole = ({ database, config, time }: Context): ControlEndpoint => ({
  method: 'POST',
  path: '/control/enter',
  operationId: 'enterConsole',
  summary: 'Make a link that opens the console, signed in',
  accepts: 'json',
  handler: async request => {
    const { to = 'payments' } = readBody(request, ['to'])
    if (typeof to !== 'string' || !PAGE.test(to))
      throw badField('to', 'must be a page of the console, such as payments')
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
