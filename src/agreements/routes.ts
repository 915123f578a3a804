import type { FastifyInstance } from 'fastify'
import type { Farthing } from '../context.ts'
import { fold } from '../database/fold.ts'
import { agreementNotFound, cannotCancelAgreement, fieldCodes } from '../errors.ts'
import { addressesOf } from '../http/addresses.ts'
import { jsonBody, requireJson } from '../http/body.ts'
import { pathParam, resource } from '../http/endpoint.ts'
import { type Json, readFields } from '../http/fields.ts'
import { plainText } from '../http/schema.ts'
import {
  anyOf,
  findPage,
  pageOf,
  paging,
  readSearch,
  type SearchKind,
  textUpTo,
  where,
} from '../http/search.ts'
import { untilWritten } from '../retry.ts'
import { type Agreement, agreementStatuses, cancel } from './agreement.ts'
import { newAgreement } from './schema.ts'
import { agreementRows, findAgreement, insertAgreement, saveAgreement } from './store.ts'
import { present } from './wire.ts'

export const agreementSearch: SearchKind = {
  path: '/v1/agreements',
  codes: { invalid: 'P2401', pastEnd: 'P2402' },
  filters: {
    status: anyOf(agreementStatuses, 'The status of the agreement'),
    reference: textUpTo(plainText.maxLength, 'The whole reference, in any case'),
    ...paging,
  },
}

/** SPEC *Agreement* and *GET /v1/agreements*. */
export function agreementRoutes(app: FastifyInstance, farthing: Farthing): void {
  const { database, clock, newId, config } = farthing

  resource(app, '/v1/agreements', {
    POST: {
      operation: 'createAgreement',
      accepts: requireJson,
      handler: async (request, reply) => {
        const given = readNewAgreement(jsonBody(request, 'P2197'))
        const agreement: Agreement = {
          agreement_id: newId(clock()),
          account: request.account,
          version: 1,
          status: 'created',
          ...given,
        }
        await database.write([insertAgreement(agreement)])
        void reply.code(201)
        return present(agreement)
      },
    },
    GET: {
      operation: 'searchAgreements',
      handler: async request => {
        const search = readSearch(request.query, agreementSearch)
        const { status, reference } = search.given
        const conditions = [
          where('account = ?', request.account),
          ...(status ? [where('status = ?', status)] : []),
          ...(reference ? [where('reference_folded = ?', fold(reference))] : []),
        ]
        const found = await findPage(database, agreementRows, conditions, search)
        return pageOf(search, found, addressesOf(request, config), present)
      },
    },
  })

  resource(app, '/v1/agreements/:agreement_id', {
    GET: {
      operation: 'readAgreement',
      handler: async request => {
        const agreement_id = pathParam(request, 'agreement_id')
        const agreement = await findAgreement(database, request.account, agreement_id)
        if (!agreement) throw agreementNotFound('P2200')
        return present(agreement)
      },
    },
  })

  resource(app, '/v1/agreements/:agreement_id/cancel', {
    POST: {
      operation: 'cancelAgreement',
      handler: async (request, reply) => {
        await cancelAgreement(farthing, request.account, pathParam(request, 'agreement_id'))
        return reply.code(204).send()
      },
    },
  })
}

async function cancelAgreement(
  { database, clock }: Farthing,
  account: string,
  agreement_id: string,
): Promise<void> {
  await untilWritten(async () => {
    const agreement = await findAgreement(database, account, agreement_id)
    if (!agreement) throw agreementNotFound('P2500')
    const cancelled = cancel(agreement, clock())
    if (!cancelled) throw cannotCancelAgreement()
    return (await database.write([saveAgreement(cancelled)])) ? cancelled : undefined
  })
}

function readNewAgreement(
  body: Json,
): Pick<Agreement, 'reference' | 'description' | 'user_identifier'> {
  const codes = fieldCodes.agreement
  const fields = readFields(body, newAgreement, codes)
  const reference = fields.plainText('reference')
  const description = fields.plainText('description')
  const user_identifier = fields.optionalRawText('user_identifier')
  fields.checkLimits()
  return { reference, description, ...(user_identifier !== undefined && { user_identifier }) }
}
