// Intl loads its data when the first formatter is made, which takes 20 ms and 10 MB. A service that shows no pages
// never loads it.
let pounds: Intl.NumberFormat | undefined

/** Such as £1,234.50. */
export function inPounds(pence: number): string {
  pounds ??= new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'GBP' })
  return pounds.format(pence / 100)
}
