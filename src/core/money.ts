/** Such as 1,234. Not with Intl: its first number or day takes 10 MB, and blocks the event loop for 15 to 50 ms. */
export const inDigits = (count: number): string =>
  count >= 1_000
    ? `${inDigits(Math.floor(count / 1_000))},${`${count % 1_000}`.padStart(3, '0')}`
    : `${count}`

/** Such as £1,234.50. */
export const inPounds = (pence: number): string =>
  `£${inDigits(Math.floor(pence / 100))}.${`${pence % 100}`.padStart(2, '0')}`

/** The pence of an amount that a person typed in pounds: `10`, `10.5`, `£1,234.50`. undefined for any other text. */
export function penceIn(text: string): number | undefined {
  const parts = /^£?\s*(\d{1,3}(?:,\d{3}){1,2}|\d{1,7})(?:\.(\d{1,2}))?$/.exec(text.trim())
  if (!parts) return undefined
  const [, whole = '', part = ''] = parts
  return Number(whole.replaceAll(',', '')) * 100 + Number(part.padEnd(2, '0'))
}

/** Such as 1234.50, as a person types it into a form. */
export const plainPounds = (pence: number): string => (pence / 100).toFixed(2)
