/** A listener: a webhook whose receiver is `farthing listen`, which connects to the service and asks for messages. */

/** Milliseconds for which a listener counts as connected after it was registered or its request was cut off. */
export const RECONNECT_TIME = 2_000
/** Milliseconds that a request may wait for an attempt. */
export const LONGEST_REQUEST = 25_000
/** Milliseconds for which a listener stays stored as connected after its request, so that not every request writes. */
export const STORED_BEYOND = 10_000

/** The result of an attempt without a connected listener. The message is then FAILED without a second attempt. */
export const NOBODY_LISTENS = 'nobody is listening'

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
export const listenerAddress = (label: string): string => `https://${label}${HOSTS}/`

export const isListenerAddress = (url: string): boolean =>
  URL.parse(url)?.hostname.endsWith(HOSTS) ?? false
