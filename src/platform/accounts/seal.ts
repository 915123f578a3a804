/**
 * A seal gives a browser access to the console for a limited time: `account.key_id.expires.mac`. The hash of the API
 * key that requested it signs it: nothing is stored, every instance can check it, and revoking the key ends it.
 */

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { MachineTime } from '../../core/ports.ts'

/** `session` is for the cookie, `enter` for a link. Neither is accepted in place of the other. */
export type Purpose = 'session' | 'enter'

/** Milliseconds for which a link to enter the console works. */
export const ENTER_MS = 60_000

/** The form of a page below /console, such as `payments/06h3k` or `a/NAME/payments`, without its query. */
export const CONSOLE_PAGE =
  /^(a\/[\w.%-]{1,192}|(a\/[\w.%-]{1,192}\/)?[a-z][a-z-]*(\/[0-9a-z-]{1,26})?)$/

/** The link with which a browser enters the console. `code`: a seal to enter. `to`: a page below /console, or home. */
export const enterUrl = (site: string, code: string, to?: string): string =>
  `${site}/console/enter?${new URLSearchParams({ code, ...(to && { to }) })}`

type Sealed = {
  account: string
  key_id: string
  /** In milliseconds on the machine's clock. */
  expires: MachineTime
}

/** `hash` is the stored hash of the key, in hexadecimal. */
export function seal({ account, key_id, expires }: Sealed, purpose: Purpose, hash: string): string {
  // Dots separate the parts, so those of the name are encoded too.
  const name = encodeURIComponent(account).replaceAll('.', '%2E')
  const text = `${name}.${key_id}.${expires}`
  return `${text}.${macOf(text, purpose, hash)}`
}

/** The fields of a seal, unchecked. Undefined if the text is not a seal. */
export function readSeal(text: string): Sealed | undefined {
  const [, account = '', key_id = '', expires = ''] =
    /^([^.]+)\.([0-9a-z]+)\.(\d{1,15})\.[0-9a-f]{64}$/.exec(text) ?? []
  if (account === '') return undefined
  try {
    return { account: decodeURIComponent(account), key_id, expires: Number(expires) }
  } catch {
    return undefined
  }
}

/** True if the key with this hash made the seal for this purpose. The caller checks the expiry. */
export function isSealedBy(text: string, purpose: Purpose, hash: string): boolean {
  const at = text.lastIndexOf('.')
  const mac = Buffer.from(text.slice(at + 1))
  const right = Buffer.from(macOf(text.slice(0, at), purpose, hash))
  return mac.length === right.length && timingSafeEqual(mac, right)
}

function macOf(text: string, purpose: Purpose, hash: string): string {
  const key = hkdfSync('sha256', Buffer.from(hash, 'hex'), '', `console ${purpose}`, 32)
  return createHmac('sha256', Buffer.from(key)).update(text).digest('hex')
}
