import { unknownBearerKey } from '../../core/errors.ts'
import { iso } from '../../core/time.ts'
import { text } from '../../core/values.ts'
import { CONSOLE_PAGE, ENTER_MS, enterUrl, seal } from '../../platform/accounts/seal.ts'
import { findLivingKey } from '../../platform/accounts/store.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import { badField } from '../steer/errors.ts'
import { body } from '../steer/fields.ts'
import { defineEndpoint } from './endpoint.ts'

const to = text(
  { description: 'A page below /console; without it, the home page' },
  'a page of the console, such as payments',
  CONSOLE_PAGE,
)

const consoleLink = object('ConsoleLink', {
  url: { type: 'string', format: 'uri' },
  expires: { ...timestamp, description: 'On the machine’s clock' },
})

/** Makes a link with which a browser enters the console. It is sealed with the key of this request. */
export const enterConsole = defineEndpoint({
  route: 'POST /control/enter',
  operationId: 'enterConsole',
  summary: 'Make a link that opens the console, signed in',
  body: body('ConsolePage', { to }),
  description: 'The link works for a minute of machine time.',
  response: [200, 'The link', consoleLink],
  errors: () => [badField('to', `must be ${to.rule}`)],
  async handler({ database, config, time }, { account, body, request }) {
    const { key_id } = request
    const key = await findLivingKey(database, key_id, config.fixedKeys)
    if (!key) throw unknownBearerKey()
    const expires = time.wall() + ENTER_MS
    const code = seal({ account: account.name, key_id, expires }, 'enter', key.hash)
    const url = enterUrl(addressesOf(request, config).api, code, body.to)
    return { url, expires: iso(expires) }
  },
})
