import * as errors from '../../core/errors.ts'
import { oneOf, textUpTo } from '../../core/values.ts'
import { fold } from '../../platform/database/fold.ts'
import { findPage, ifGiven, where } from '../../platform/database/select.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import { JSON_TYPE } from '../../platform/http/body.ts'
import { api, type Endpoint, pathParam } from '../../platform/http/endpoint.ts'
import {
  json,
  noContent,
  pathParameter,
  requestBody,
  searchDocs,
} from '../../platform/http/openapi.ts'
import { parameter } from '../../platform/http/query.ts'
import { plainText } from '../../platform/http/schema.ts'
import { pageOf, paging, readSearch, type SearchKind } from '../../platform/http/search.ts'
import { type Context, contextOf } from '../context.ts'
import { otherBody } from '../differences/errors.ts'
import { mostAgreements } from '../differences/searching.ts'
import { bodyOf } from '../refusals.ts'
import { resultPage, shownPage } from '../result-page.ts'
import { agreementStatuses } from './agreement.ts'
import { cancelAgreement, createAgreement } from './commands.ts'
import { agreementRows, findAgreement } from './store.ts'
import { agreementIn, newAgreement, presentAgreement, readNewAgreement } from './wire.ts'

const agreementSearch: SearchKind = {
  path: '/v1/agreements',
  codes: { invalid: 'P2401', pastEnd: 'P2402' },
  filters: {
    status: parameter(oneOf(agreementStatuses), 'The status of the agreement'),
    reference: parameter(textUpTo(plainText.maxLength), 'The whole reference, in any case', {
      examples: ['MEMBERSHIP-41'],
    }),
    ...paging,
  },
}

/** Specification, *Agreement* and *GET /v1/agreements*. */
export const agreementEndpoints = (context: Context): Endpoint[] => [
  create(context),
  search(context),
  read(context),
  cancel(context),
]

const agreementId = pathParameter('agreement_id', 'An agreement of the account')

const codes = errors.fieldCodes.agreement

const create = (context: Context): Endpoint => ({
  ...api('POST', '/v1/agreements', 'createAgreement', 'Create an agreement'),
  accepts: 'json',
  docs: behaviour => ({
    description:
      'It becomes active when a web payment with its agreement_id as `set_up_agreement` is authorised. A later such payment replaces its card. A cancelled agreement stays cancelled.',
    requestBody: requestBody(newAgreement),
    responses: { 201: json('The agreement', agreementIn[behaviour]) },
    errors: [
      errors.missing(codes, 'reference'),
      errors.invalid(codes, 'description', 'must be a string'),
      ...otherBody[behaviour].errors('P2197'),
      errors.wrongMediaType(400, JSON_TYPE),
      errors.outsideLimit(codes, 'reference', 'must be at most 255 characters long'),
    ],
  }),
  handler: async (request, reply) => {
    const fields = readNewAgreement(bodyOf(request, 'P2197'))
    const agreement = await createAgreement(context, request.account, fields)
    void reply.code(201)
    return presentAgreement(agreement, request.account.behaviour)
  },
})

const search = ({ database, config }: Context): Endpoint => ({
  ...api('GET', '/v1/agreements', 'searchAgreements', 'Search agreements'),
  search: agreementSearch,
  docs: behaviour => {
    const most = mostAgreements[behaviour]
    return {
      description: `Newest first.${most ? ` At most ${most} on a page.` : ''}`,
      ...searchDocs(agreementSearch, resultPage(agreementIn[behaviour], behaviour), ['status']),
    }
  },
  handler: async request => {
    const { behaviour } = request.account
    const asked = readSearch(request.query, agreementSearch)
    const displaySize = Math.min(asked.displaySize, mostAgreements[behaviour] ?? Infinity)
    const query = { ...asked, displaySize }
    const { status, reference } = query.filters
    const conditions = [
      where('account = ?', request.account.room),
      ...ifGiven('status = ?', status),
      ...ifGiven('reference_folded = ?', reference && fold(reference)),
    ]
    const result = await findPage(database, agreementRows, conditions, query)
    const page = pageOf(query, result, addressesOf(request, config), agreement =>
      presentAgreement(agreement, behaviour),
    )
    return shownPage(page, behaviour)
  },
})

const read = ({ database }: Context): Endpoint => ({
  ...api('GET', '/v1/agreements/{agreement_id}', 'readAgreement', 'Read an agreement'),
  docs: behaviour => ({
    parameters: [agreementId],
    responses: { 200: json('The agreement', agreementIn[behaviour]) },
    errors: [errors.agreementNotFound('P2200')],
  }),
  handler: async request => {
    const agreement_id = pathParam(request, 'agreement_id')
    const found = await findAgreement(database, request.account.room, agreement_id)
    if (!found) throw errors.agreementNotFound('P2200')
    return presentAgreement(found, request.account.behaviour)
  },
})

const cancel = (context: Context): Endpoint => ({
  ...api('POST', '/v1/agreements/{agreement_id}/cancel', 'cancelAgreement', 'Cancel an agreement'),
  docs: () => ({
    description: 'Allowed while its status is created or active. A body is ignored.',
    parameters: [agreementId],
    responses: { 204: noContent('It is cancelled') },
    errors: [errors.cannotCancelAgreement('cancelled'), errors.agreementNotFound('P2500')],
  }),
  handler: async (request, reply) => {
    const { account } = request
    await cancelAgreement(contextOf(request, context), account, pathParam(request, 'agreement_id'))
    return reply.code(204).send()
  },
})
