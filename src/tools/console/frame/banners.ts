/**
 * The banners that report the result of an action. The address of the next page names one, so that a link cannot
 * contain a text.
 */
const banners = {
  succeeded: { text: 'The payment succeeded.', success: true },
  authorised: {
    text: 'The payment is authorised. Capture it to make it a success.',
    success: true,
  },
  declined: { text: 'The card was declined.', success: true },
  error: { text: 'The payment ended with an error of the provider.', success: true },
  cancelled: { text: 'The user cancelled the payment.', success: true },
  'cancelled-by-api': { text: 'The payment is cancelled.', success: true },
  captured: { text: 'The payment is captured.', success: true },
  refunded: { text: 'The refund is submitted.', success: true },
  overtaken: {
    text: 'Nothing was done: another request changed the payment first.',
    success: false,
  },
  sent: { text: 'The message was sent, and the receiver accepted it.', success: true },
  'sent-in-vain': {
    text: 'The message was sent, and the receiver did not accept it. The newest attempt says why.',
    success: false,
  },
  'not-sent': { text: 'Nothing was sent.', success: false },
  'signed-out': { text: 'You have signed out.', success: true },
} as const

export type Done = keyof typeof banners

/** The banner that the query asks for. */
export function doneBanner(query: unknown): { text: string; success: boolean } | undefined {
  const { done } = query as Record<string, unknown> // Fastify types it as unknown
  return typeof done === 'string' && Object.hasOwn(banners, done)
    ? banners[done as Done] // hasOwn has checked it
    : undefined
}
