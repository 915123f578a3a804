import { apiKey, missingKey, otherKey, theKey } from './advice.ts'
import { AS_IS, distinct, type Given, type Variant, withAdvice } from './variants.ts'

const PREFIX = 'webhook_test_'

/** A signing key of the account, and the webhook that has it. */
export type NamedKey = { name: string; key: string }

/** The form in which Farthing makes signing keys. */
export const isSigningKey = (key: string): boolean => /^webhook_test_[0-9a-v]{26}$/.test(key)

/** The form of the API keys of GOV.UK Pay. Farthing's may have any. */
export const isApiKey = (key: string): boolean => /^api_(test|live)_/.test(key)

/** Keys that are used by mistake. */
export type OtherKeys = {
  /** The signing keys of other webhooks. */
  webhooks: readonly NamedKey[]
  api: readonly string[]
}

export const noKeys: OtherKeys = { webhooks: [], api: [] }

/** The key unchanged, as common mistakes change it, and the other keys. If two are equal, the first. */
export function keyVariants(key: Buffer, { webhooks, api }: OtherKeys): Variant<Buffer>[] {
  const text = key.toString('utf8')
  const bare = text.replace(PREFIX, '')
  return distinct([
    ...withAdvice(theKey, [[AS_IS, 'as it is', key]]),
    ...withAdvice(
      otherKey,
      webhooks.map(({ name, key: other }): Given => ['other-webhook', `of ${name}`, other]),
    ),
    ...withAdvice(
      apiKey,
      api.map((other): Given => ['api-key', 'replaced by an API key', other]),
    ),
    ...withAdvice(theKey, [
      ['no-space', 'without the white space around it', text.trim()],
      ['no-quotes', 'without the quotes around it', text.replace(/^(["'])(.*)\1$/s, '$2')],
      ['no-prefix', `without ${PREFIX}`, bare],
      ['prefix', `with ${PREFIX} before it`, PREFIX + text],
      ['newline', 'with a newline at its end', `${text}\n`],
      ['crlf', 'with CRLF at its end', `${text}\r\n`],
      ['space', 'with a space at its end', `${text} `],
      ['quotes', 'with double quotes around it', `"${text}"`],
      ['single-quotes', 'with single quotes around it', `'${text}'`],
      ['upper', 'in upper case', text.toUpperCase()],
      ['lower', 'in lower case', text.toLowerCase()],
      ['base64-decoded', 'decoded from base64', Buffer.from(text, 'base64')],
      ['bare-base64-decoded', `decoded from base64 without ${PREFIX}`, Buffer.from(bare, 'base64')],
    ]),
    ...withAdvice(missingKey, [['empty', 'left empty', '']]),
    ...withAdvice(theKey, [['hex-decoded', 'decoded from hexadecimal', Buffer.from(bare, 'hex')]]),
    ...withAdvice(missingKey, [
      ['undefined', 'replaced by the word undefined', 'undefined'],
      ['None', 'replaced by the word None', 'None'],
    ]),
  ])
}
