/** A listener: a webhook whose receiver is `farthing listen`, which connects to the service and asks for messages. */

/** Milliseconds that a listener may take until its next look. */
export const BETWEEN_LOOKS = 2_000
/** Milliseconds that a look may last, and those for which it is stored that somebody listens. */
export const LONGEST_LOOK = 25_000
export const STORED_FOR = 35_000

/** The result of an attempt for which nobody is there. The message is then FAILED without a second attempt. */
export const NOBODY = 'nobody is listening'

const HOSTS = '.listen.farthing.invalid'
const LONGEST_LABEL = 63

/** The name as one label of a host name; '' if nothing of it can be used. */
export const labelOf = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_LABEL)
    .replace(/^-|-$/g, '')

/** An address that cannot exist, and that no webhook can be registered with. */
export const addressOf = (label: string): string => `https://${label}${HOSTS}/`

export const isListenerAddress = (url: string): boolean => {
  const host = URL.parse(url)?.hostname ?? ''
  return host.endsWith(HOSTS)
}
