import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import type { Farthing } from '../context.ts'
import { addressesOf, pathOf } from '../http/addresses.ts'
import { formBody, isWrongForm } from '../http/body.ts'
import { pathParam, resource } from '../http/endpoint.ts'
import { toApiError } from '../http/errors.ts'
import { isUnder } from '../http/server.ts'
import { setPageHeaders } from '../web/headers.ts'
import { choose, confirm, type Next, showConfirm, showDetails, type Visit } from './journey.ts'
import { faultPage } from './pages.ts'

/** The path of the pages' public address. */
const basePathOf = ({ pagesUrl, baseUrl }: Config): string => pathOf(pagesUrl ?? baseUrl)

export function hostedRoutes(app: FastifyInstance, farthing: Farthing): void {
  const basePath = basePathOf(farthing.config)
  app.addHook('onRequest', (request, reply, done) => {
    setPageHeaders(reply, addressesOf(request, farthing.config))
    done(request.method === 'POST' && isWrongForm(request) ? pageFault(415) : undefined)
  })
  app.setErrorHandler((error, request, reply) => sendFault(farthing, error, request, reply))

  function visit(request: FastifyRequest, token: string, { hidden }: { hidden: boolean }): Visit {
    const addresses = addressesOf(request, farthing.config)
    return { farthing, addresses, basePath, token, hidden }
  }
  const visitByPath = (request: FastifyRequest) =>
    visit(request, pathParam(request, 'token'), { hidden: false })

  resource(app, '/secure/:token', {
    GET: {
      operation: 'openPaymentPage',
      handler: async (request, reply) =>
        send(reply, await showDetails(visitByPath(request), { starts: request.method !== 'HEAD' })),
    },
    POST: {
      operation: 'chooseScenario',
      handler: async (request, reply) => {
        refuseOtherSites(request)
        return send(reply, await choose(visitByPath(request), formBody(request)))
      },
    },
  })

  resource(app, '/secure/:token/confirm', {
    GET: {
      operation: 'openConfirmPage',
      handler: async (request, reply) => send(reply, await showConfirm(visitByPath(request))),
    },
    POST: {
      operation: 'confirmPayment',
      handler: async (request, reply) => {
        refuseOtherSites(request)
        return send(reply, await confirm(visitByPath(request), formBody(request)))
      },
    },
  })

  resource(app, '/secure', {
    GET: { operation: 'openNoPage', handler: async (_request, reply) => send(reply, undefined) },
    POST: {
      operation: 'journeyByForm',
      handler: async (request, reply) => {
        const form = formBody(request)
        const [token, ...more] = form.getAll('chargeTokenId')
        if (token === undefined || more.length > 0) return send(reply, undefined)
        const step = form.get('step')
        // Only the first request, which has no step, comes from the client's site.
        if (step !== null) refuseOtherSites(request)
        const here = visit(request, token, { hidden: true })
        if (step === 'details') return send(reply, await choose(here, form))
        if (step === 'confirm') return send(reply, await confirm(here, form))
        return send(reply, await showDetails(here, { starts: true }))
      },
    },
  })
}

function send(reply: FastifyReply, next: Next): FastifyReply {
  if (!next) throw pageFault(404)
  if ('location' in next) return reply.code(303).header('location', inAscii(next.location)).send()
  return sendPage(reply, next.status, next.page)
}

/** Encodes an address that a header cannot carry, because it is not ASCII. Any other stays exactly as it was given. */
const inAscii = (address: string): string =>
  /^[!-~]*$/.test(address) ? address : new URL(address).href

const sendPage = (reply: FastifyReply, status: number, page: string): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(page)

/** An error that is shown as the page for its status. */
const pageFault = (statusCode: number): Error =>
  Object.assign(new Error(`hosted page: ${statusCode}`), { statusCode })

/**
 * Refuses forms that another site makes a browser submit (CSRF). Every current browser sends Sec-Fetch-Site,
 * so a client without it is a test suite or a script.
 */
function refuseOtherSites({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw pageFault(403)
}

/** Sends any error as a page. */
export function sendFault(
  { config }: Farthing,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  setPageHeaders(reply, addressesOf(request, config))
  const { status } = toApiError(error, request)
  return sendPage(reply, status, faultPage({ basePath: basePathOf(config) }, status))
}

/** True if errors on this path are pages. */
export const isPagePath = (request: FastifyRequest): boolean => isUnder('/secure', request)
