import { unknownBearerKey } from '../../core/errors.ts'
import { iso } from '../../core/time.ts'
import { CONSOLE_PAGE, ENTER_MS, enterUrl, seal } from '../../platform/accounts/seal.ts'
import { findLivingKey } from '../../platform/accounts/store.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { json, optionalBody } from '../../platform/http/openapi.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { readBody, textIn } from './body.ts'
import { badBody, badField, unknownField } from './errors.ts'
import { text } from './schemas.ts'

/** A page below /console, such as `payments/06h3k`. */
const PAGE = {
  pattern: CONSOLE_PAGE,
  rule: 'must be a page of the console, such as payments',
}

const consolePage = object(
  'ConsolePage',
  {},
  { to: { ...text, description: 'A page below /console; without it, the home page' } },
)

const consoleLink = object('ConsoleLink', {
  url: { type: 'string', format: 'uri' },
  expires: { ...timestamp, description: 'On the machine’s clock' },
})

/** Makes a link with which a browser enters the console. It is sealed with the key of this request. */
export const enterConsole = ({ database, config, time }: ToolContext): Endpoint => ({
  method: 'POST',
  path: '/control/enter',
  area: 'control',
  operationId: 'enterConsole',
  summary: 'Make a link that opens the console, signed in',
  accepts: 'json',
  docs: () => ({
    description: 'The link works for a minute of machine time.',
    requestBody: optionalBody(consolePage),
    responses: { 200: json('The link', consoleLink) },
    errors: [...badBody(), badField('to', PAGE.rule), unknownField()],
  }),
  handler: async request => {
    const to = textIn(readBody(request, consolePage), 'to', PAGE)
    const { key_id, account } = request
    const key = await findLivingKey(database, key_id, config.fixedKeys)
    if (!key) throw unknownBearerKey()
    const expires = time.wall() + ENTER_MS
    const code = seal({ account: account.name, key_id, expires }, 'enter', key.hash)
    const url = enterUrl(addressesOf(request, config).api, code, to)
    return { url, expires: iso(expires) }
  },
})
