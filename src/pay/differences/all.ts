/** Every difference between the specification and GOV.UK Pay, in the order in which people read them. */
import * as creating from './creating.ts'
import * as reading from './reading.ts'
import * as refunds from './refunds.ts'

export const differences = { ...creating, ...reading, ...refunds }

export type DifferenceName = keyof typeof differences
