/** Every difference between the specification and GOV.UK Pay, in the order in which people read them. */
import * as agreements from './agreements.ts'
import * as arriving from './arriving.ts'
import * as cards from './cards.ts'
import * as creating from './creating.ts'
import * as errors from './errors.ts'
import * as messages from './messages.ts'
import * as pages from './pages.ts'
import * as reading from './reading.ts'
import * as refunds from './refunds.ts'
import * as searching from './searching.ts'
import * as states from './states.ts'

export const differences = {
  ...creating,
  ...arriving,
  ...errors,
  ...cards,
  ...searching,
  ...reading,
  ...states,
  ...refunds,
  ...agreements,
  ...messages,
  ...pages,
}

export type DifferenceName = keyof typeof differences
