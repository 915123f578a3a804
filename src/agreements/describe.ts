/** The endpoints of agreements in /openapi.json. */
import {
  agreementNotFound,
  cannotCancelAgreement,
  fieldCodes,
  invalid,
  missing,
  notAnObject,
  outsideLimit,
  wrongMediaType,
} from '../errors.ts'
import {
  behindKey,
  describeBody,
  json,
  noContent,
  type Operations,
  pathParameter,
  searchParts,
} from '../http/describe.ts'
import { active, created, request } from './examples.ts'
import { agreementSearch } from './routes.ts'
import { agreement, newAgreement, present } from './wire.ts'

const codes = fieldCodes.agreement

const agreementId = pathParameter('agreement_id', 'An agreement of yours', created.agreement_id)

const createAgreement = behindKey({
  summary: 'Create an agreement',
  description:
    'It becomes active when a web payment with its agreement_id as `set_up_agreement` is authorised.',
  requestBody: describeBody(newAgreement, { 'A monthly membership': request }),
  answers: { 201: json('The agreement', agreement, { 'Just created': present(created) }) },
  errors: [
    missing(codes, 'reference'),
    invalid(codes, 'description', 'must be a string'),
    notAnObject('P2197'),
    wrongMediaType('application/json'),
    outsideLimit(codes, 'reference', 'must be at most 255 characters long'),
  ],
})

const searchAgreements = behindKey({
  summary: 'Search agreements',
  description: 'Newest first.',
  ...searchParts(agreementSearch, agreement, present(active), ['status']),
})

const readAgreement = behindKey({
  summary: 'Read an agreement',
  parameters: [agreementId],
  answers: { 200: json('The agreement', agreement, { 'An active one': present(active) }) },
  errors: [agreementNotFound('P2200')],
})

const cancelAgreement = behindKey({
  summary: 'Cancel an agreement',
  description: 'Allowed in every status but cancelled. A body is not read.',
  parameters: [agreementId],
  answers: { 204: noContent('It is cancelled') },
  errors: [cannotCancelAgreement(), agreementNotFound('P2500')],
})

export const operations: Operations = {
  createAgreement,
  searchAgreements,
  readAgreement,
  cancelAgreement,
}
