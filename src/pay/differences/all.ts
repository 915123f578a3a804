/** Every difference between the specification and GOV.UK Pay, in the order in which people read them. */
import * as arriving from './arriving.ts'
import * as cards from './cards.ts'
import * as creating from './creating.ts'
import * as errors from './errors.ts'
import * as reading from './reading.ts'
import * as searching from './searching.ts'

export const differences = {
  ...creating,
  ...arriving,
  ...errors,
  ...cards,
  ...searching,
  ...reading,
}

export type DifferenceName = keyof typeof differences
