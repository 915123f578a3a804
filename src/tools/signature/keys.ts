import { distinct, type Given, type Variant } from './variants.ts'

const PREFIX = 'webhook_test_'

/** A signing key of the account, and the webhook that has it. */
export type NamedKey = { name: string; key: string }

/** The key unchanged, as common mistakes change it, and the other keys. If two are equal, the first. */
export function keyVariants(key: Buffer, others: readonly NamedKey[]): Variant<Buffer>[] {
  const text = key.toString('utf8')
  const bare = text.replace(PREFIX, '')
  return distinct([
    ['as-is', 'as it is', key],
    ...others.map(({ name, key: other }): Given => ['other-webhook', `of ${name}`, other]),
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
    ['empty', 'left empty', ''],
    ['hex-decoded', 'decoded from hexadecimal', Buffer.from(bare, 'hex')],
    ['undefined', 'replaced by the word undefined', 'undefined'],
    ['None', 'replaced by the word None', 'None'],
  ])
}
