// Intl loads its data when the first formatter is made, which takes 20 ms and 10 MB. A service that shows no pages
// never loads it.
let pounds: Intl.NumberFormat | undefined

/** Such as £1,234.50. */
export function inPounds(pence: number): string {
  pounds ??= new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'GBP' })
  return pounds.format(pence / 100)
}

/** The pence of an amount that a person typed in pounds: `10`, `10.5`, `£1,234.50`. undefined for any other text. */
export function penceIn(text: string): number | undefined {
  const parts = /^£?\s*(\d{1,3}(?:,\d{3}){1,2}|\d{1,7})(?:\.(\d{1,2}))?$/.exec(text.trim())
  if (!parts) return undefined
  const [, whole = '', part = ''] = parts
  return Number(whole.replaceAll(',', '')) * 100 + Number(part.padEnd(2, '0'))
}

/** Such as 1234.50, to be typed. */
export const plainPounds = (pence: number): string => (pence / 100).toFixed(2)
