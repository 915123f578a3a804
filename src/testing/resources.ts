/** Types of the bodies that the service returns, made from its schemas. Other files import only types from here. */
import type { FromSchema } from 'json-schema-to-ts'
import { payment } from '../pay/payments/response.ts'
import { cardDetails, link, postLinkSchema } from '../platform/http/schema.ts'
import { finding, report, situation } from '../tools/control/check.ts'
import { message } from '../tools/control/messages.ts'
import { recordedRequest } from '../tools/control/requests.ts'

/** The schemas by the names of their types. scripts/print-types.ts prints these types for the package. */
export const resources = {
  Payment: { ...payment, description: 'A payment as the API returns it' },
  CardDetails: cardDetails,
  Link: link,
  PostLink: postLinkSchema,
  UndeliveredMessage: { ...message, description: 'A message that was not delivered' },
  LoggedRequest: {
    ...recordedRequest,
    description: 'A request as it was recorded. Keys, tokens and card numbers are masked',
  },
  CheckReport: report,
  Finding: finding,
  Situation: situation,
}

type Of<Name extends keyof typeof resources> = FromSchema<(typeof resources)[Name]>
export type Payment = Of<'Payment'>
export type CardDetails = Of<'CardDetails'>
export type Link = Of<'Link'>
export type PostLink = Of<'PostLink'>
export type UndeliveredMessage = Of<'UndeliveredMessage'>
export type LoggedRequest = Of<'LoggedRequest'>
export type CheckReport = Of<'CheckReport'>
export type Finding = Of<'Finding'>
export type Situation = Of<'Situation'>
