import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * True if the sender of the message has the webhook's signing_key. `body` is the request's body as it
 * arrived, byte for byte: parse it only afterwards. `paySignature` is the header Pay-Signature.
 */
export function isSigned(body: Uint8Array, paySignature: string, signingKey: string): boolean {
  const expected = Buffer.from(createHmac('sha256', signingKey).update(body).digest('hex'))
  const given = Buffer.from(paySignature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
