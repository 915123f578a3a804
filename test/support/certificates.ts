/** A certificate authority for the tests and the certificates it signed, made once per process. */
import { generate } from 'selfsigned'

const HOUR_MS = 3_600_000
const NAMES = ['localhost', 'receiver.test', '*.receiver.test']

/** The certificates of a receiver. Only `valid` is accepted for localhost, receiver.test and 127.0.0.1. */
export type CertificateKind = 'valid' | 'of another name' | 'expired' | 'self-signed'

const root = await generate([{ name: 'commonName', value: 'Farthing test authority' }], {
  keyType: 'ec',
  algorithm: 'sha256',
  notBeforeDate: hoursFromNow(-72),
  extensions: [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ],
})

/** The certificate to trust, in PEM: for `ca`, or in a file for NODE_EXTRA_CA_CERTS. */
export const authority: string = root.cert

export const certificates: Record<CertificateKind, { key: string; cert: string }> = {
  valid: await sign(NAMES, 24),
  'of another name': await sign(['another.test'], 24),
  expired: await sign(NAMES, -24),
  'self-signed': await sign(NAMES, 24, false),
}

/** Valid from two days ago until `hours` from now. */
async function sign(names: string[], hours: number, byAuthority = true) {
  const made = await generate([{ name: 'commonName', value: names[0] ?? '' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: hoursFromNow(-48),
    notAfterDate: hoursFromNow(hours),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...names.map(value => ({ type: 2 as const, value })),
          ...(names === NAMES ? ['127.0.0.1', '::1'] : []).map(ip => ({ type: 7 as const, ip })),
        ],
      },
    ],
    ...(byAuthority && { ca: { key: root.private, cert: root.cert } }),
  })
  return { key: made.private, cert: made.cert }
}

function hoursFromNow(hours: number): Date {
  return new Date(Date.now() + hours * HOUR_MS)
}
