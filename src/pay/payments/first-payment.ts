export const firstPayment = {
  amount: 1450,
  reference: 'FIRST-1',
  description: 'My first payment',
  return_url: 'https://example.org/paid',
}

/** The curl command for a first payment. `key` is a key or a variable of the shell. */
export function paymentCommand(site: string, key: string): string {
  const body = JSON.stringify(firstPayment)
  return `curl -s ${site}/v1/payments -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '${body}'`
}
