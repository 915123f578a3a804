/** What other floors say of a request, so that somebody can record it. */

/** The effects of a request: positions in the payment's events, from 0, and the webhook messages that it wrote. */
export type Caused = { events: number[]; messages: string[] }

export type Headers = Record<string, string>
