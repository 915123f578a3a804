export const firstPayment = {
  amount: 1450,
  reference: 'FIRST-1',
  description: 'My first payment',
  return_url: 'https://example.org/paid',
}

/** The curl command for a first payment. `authorization` is the header, as a word of the shell. */
export function paymentCommand(
  site: string,
  authorization = '"Authorization: Bearer $FARTHING_API_KEY"',
): string {
  const body = JSON.stringify(firstPayment)
  return `curl -sS ${site}/v1/payments -H ${authorization} -H 'Content-Type: application/json' -d '${body}'`
}
