/** A listener: a webhook whose receiver is `farthing listen`, which connects to the service and asks for messages. */

/** Milliseconds that a listener may take until its next request. */
export const BETWEEN_LOOKS = 2_000
/** Milliseconds that a request may wait for an attempt, and for which a listener is then stored as connected. */
export const LONGEST_LOOK = 25_000
export const STORED_FOR = 35_000

/** The result of an attempt without a connected listener. The message is then FAILED without a second attempt. */
export const NOBODY = 'nobody is listening'

const HOSTS = '.listen.farthing.invalid'
const LONGEST_LABEL = 63

/** The name as one label of a host name; '' if no character of it can be used. */
export const labelOf = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_LABEL)
    .replace(/^-|-$/g, '')

/** An address that cannot exist, and with which no webhook can be registered. */
export const addressOf = (label: string): string => `https://${label}${HOSTS}/`

export const isListenerAddress = (url: string): boolean => {
  const host = URL.parse(url)?.hostname ?? ''
  return host.endsWith(HOSTS)
}
