/** The real Send to receivers on loopback. All are closed after the tests of the importing file. */
import { after } from 'node:test'
import type { Resolve } from '../../src/core/ports.ts'
import { parseAllowedHosts } from '../../src/platform/outbound/address.ts'
import { createSend } from '../../src/platform/outbound/send.ts'
import { authority } from './certificates.ts'
import { type Behaviour, type Receiver, startReceiver } from './receiver.ts'

export const open: { close(): unknown }[] = []
after(async () => {
  for (const each of open) await each.close()
})

export const HOSTS = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test']

/** Resolves every name to loopback. The hosts `localhost` and `receiver.test` and five more are exempt from the address rule. */
export function loopbackSend(resolve: Resolve = async () => ['127.0.0.1']) {
  const allowed = parseAllowedHosts(['localhost, receiver.test', ...HOSTS].join()).hosts
  const send = createSend({ resolve, allowed, ca: authority, userAgent: 'Farthing/1.2.3' })
  open.push(send)
  return send
}

export async function receiverThat(behaviour: Behaviour = {}): Promise<Receiver> {
  const receiver = await startReceiver(behaviour)
  open.push(receiver)
  return receiver
}
