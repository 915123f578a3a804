import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import type { Farthing } from '../context.ts'
import { addressesOf, pathOf } from '../http/addresses.ts'
import { formBody, isWrongForm } from '../http/body.ts'
import { pathParam, resource } from '../http/endpoint.ts'
import { toApiError } from '../http/errors.ts'
import { isUnder } from '../http/server.ts'
import { setPageHeaders } from '../web/headers.ts'
import { journeyOf } from './journey.ts'
import { faultPage } from './pages.ts'
import { type Answer, choose, confirm, showConfirm, showDetails, type Visit } from './steps.ts'

/** The path below which the pages are. */
const basePathOf = ({ pagesUrl, baseUrl }: Config): string => pathOf(pagesUrl ?? baseUrl)

/** SPEC *Hosted payment pages*. */
export function hostedRoutes(app: FastifyInstance, farthing: Farthing): void {
  const basePath = basePathOf(farthing.config)
  app.addHook('onRequest', (request, reply, done) => {
    setPageHeaders(reply, addressesOf(request, farthing.config))
    done(request.method === 'POST' && isWrongForm(request) ? pageFault(415) : undefined)
  })
  app.setErrorHandler((error, request, reply) => sendFault(farthing, error, request, reply))

  function visit(request: FastifyRequest, token: string, { hidden }: { hidden: boolean }): Visit {
    const journey = journeyOf(farthing, addressesOf(request, farthing.config), token)
    return { basePath, journey, hidden }
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
        // The first request comes from the client's site, every later one from our own pages.
        if (step !== null) refuseOtherSites(request)
        const here = visit(request, token, { hidden: true })
        if (step === 'details') return send(reply, await choose(here, form))
        if (step === 'confirm') return send(reply, await confirm(here, form))
        return send(reply, await showDetails(here, { starts: true }))
      },
    },
  })
}

function send(reply: FastifyReply, answer: Answer | undefined): FastifyReply {
  if (!answer) throw pageFault(404)
  if ('next' in answer) return reply.code(303).header('location', inAscii(answer.next)).send()
  return sendPage(reply, answer.status, answer.page)
}

/** An address as a header can carry it. It is as it was given unless it cannot be. */
const inAscii = (address: string): string =>
  /^[!-~]*$/.test(address) ? address : new URL(address).href

const sendPage = (reply: FastifyReply, status: number, page: string): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(page)

/** An error of which the page for its status says all there is to say. */
const pageFault = (statusCode: number): Error =>
  Object.assign(new Error(`hosted page: ${statusCode}`), { statusCode })

/** Without a cookie or a field of our own, this tells a form of another site from one of ours. */
function refuseOtherSites({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw pageFault(403)
}

/** Errors of people's pages are pages too. */
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

/** True for the paths whose errors are pages. */
export const isPagePath = (request: FastifyRequest): boolean => isUnder('/secure', request)
