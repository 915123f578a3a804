import type { FastifyInstance } from 'fastify'
import type { Farthing } from '../context.ts'
import { fold } from '../database/fold.ts'
import { agreementNotFound, cannotCancelAgreement } from '../errors.ts'
import { addressesOf } from '../http/addresses.ts'
import { jsonBody, requireJson } from '../http/body.ts'
import { pathParam, resource } from '../http/endpoint.ts'
import { findPage, where } from '../http/find-page.ts'
import { pageOf, readSearch, type SearchKind } from '../http/page.ts'
import { plainText } from '../http/schema.ts'
import { anyOf, paging, textUpTo } from '../http/search.ts'
import { untilWritten } from '../retry.ts'
import { type Agreement, agreementStatuses, cancel } from './agreement.ts'
import { agreementRows, findAgreement, insertAgreement, saveAgreement } from './store.ts'
import { present, readNewAgreement } from './wire.ts'

export const agreementSearch: SearchKind = {
  path: '/v1/agreements',
  codes: { invalid: 'P2401', pastEnd: 'P2402' },
  filters: {
    status: anyOf(agreementStatuses, 'The status of the agreement'),
    reference: textUpTo(plainText.maxLength, 'The whole reference, in any case'),
    ...paging,
  },
}

/** Specification, *Agreement* and *GET /v1/agreements*. */
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
