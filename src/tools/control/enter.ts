import { unknownBearerKey } from '../../core/errors.ts'
import { iso } from '../../core/time.ts'
import { CONSOLE_PAGE, ENTER_MS, enterUrl, seal } from '../../platform/accounts/seal.ts'
import { findLivingKey } from '../../platform/accounts/store.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { textIn } from './body.ts'
import { defineEndpoint } from './endpoint.ts'
import { badField } from './errors.ts'
import { text } from './schemas.ts'

/** A page below /console, such as `payments/06h3k`. */
const CONSOLE = {
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
export const enterConsole = ({ database, config, time }: ToolContext) =>
  defineEndpoint({
    method: 'POST',
    path: '/control/enter',
    operationId: 'enterConsole',
    summary: 'Make a link that opens the console, signed in',
    body: consolePage,
    description: 'The link works for a minute of machine time.',
    response: [200, 'The link', consoleLink],
    errors: () => [badField('to', CONSOLE.rule)],
    handler: async (request, { body }) => {
      const to = textIn(body, 'to', CONSOLE)
      const { key_id, account } = request
      const key = await findLivingKey(database, key_id, config.fixedKeys)
      if (!key) throw unknownBearerKey()
      const expires = time.wall() + ENTER_MS
      const code = seal({ account: account.name, key_id, expires }, 'enter', key.hash)
      const url = enterUrl(addressesOf(request, config).api, code, to)
      return { url, expires: iso(expires) }
    },
  })
