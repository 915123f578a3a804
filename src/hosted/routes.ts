import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import type { Farthing } from '../farthing.ts'
import { addressesOf, pagesPath } from '../http/addresses.ts'
import { formBody, isWrongForm } from '../http/body.ts'
import { toApiError } from '../http/error-body.ts'
import { pathParam, resource } from '../http/resource.ts'
import { isUnder } from '../http/server.ts'
import type { Payment } from '../payments/payment.ts'
import { setPageHeaders } from './headers.ts'
import { cardOf, isOver, type Journey, journeyOf, readScenario, type Scenario } from './journey.ts'
import { confirmPage, detailsPage, type Ending, endPage, type Form, faultPage } from './pages.ts'
import type { PaymentSummary } from './payment-summary.ts'

const endings: Record<Exclude<Scenario, 'success'>, Ending> = {
  declined: 'declined',
  error: 'technical',
  cancel: 'cancelled',
}

/** Where a visit's forms post to and where its steps lead: by a token in the path, or hidden in the form. */
type Visit = { basePath: string; journey: Journey; hidden: boolean }

/** SPEC *Hosted payment pages*. */
export function hostedRoutes(app: FastifyInstance, farthing: Farthing): void {
  const { config } = farthing
  const schema = { hide: true }

  app.addHook('onRequest', async (request, reply) => {
    setPageHeaders(reply, addressesOf(request, config))
    if (request.method === 'POST' && isWrongForm(request)) throw pageFault(415)
  })
  app.setErrorHandler((error, request, reply) => sendFault(farthing, error, request, reply))

  function visitOf(request: FastifyRequest, token: string, hidden: boolean): Visit {
    const addresses = addressesOf(request, config)
    return {
      basePath: pagesPath(addresses),
      journey: journeyOf(farthing, addresses, token),
      hidden,
    }
  }
  const pathVisit = (request: FastifyRequest) =>
    visitOf(request, pathParam(request, 'token'), false)

  resource(app, '/secure/:token', {
    GET: { schema, handler: (request, reply) => showDetails(pathVisit(request), request, reply) },
    POST: {
      schema,
      handler: (request, reply) => {
        refuseOtherSites(request)
        return choose(pathVisit(request), formBody(request), reply)
      },
    },
  })

  resource(app, '/secure/:token/confirm', {
    GET: { schema, handler: (request, reply) => showConfirm(pathVisit(request), reply) },
    POST: {
      schema,
      handler: (request, reply) => {
        refuseOtherSites(request)
        return confirm(pathVisit(request), formBody(request), request, reply)
      },
    },
  })

  resource(app, '/secure', {
    GET: { schema, handler: () => Promise.reject(pageFault(404)) },
    POST: {
      schema,
      handler: (request, reply) => {
        const form = formBody(request)
        const [token, ...more] = form.getAll('chargeTokenId')
        if (token === undefined || more.length > 0) throw pageFault(404)
        const visit = visitOf(request, token, true)
        const step = form.get('step')
        if (step !== null) refuseOtherSites(request)
        if (step === 'details') return choose(visit, form, reply)
        if (step === 'confirm') return confirm(visit, form, request, reply)
        return showDetails(visit, request, reply)
      },
    },
  })
}

/** The first showing starts the payment; a HEAD request shows nothing. */
async function showDetails(visit: Visit, { method }: FastifyRequest, reply: FastifyReply) {
  const payment = method === 'HEAD' ? await visit.journey.find() : await visit.journey.open()
  if (!payment) throw pageFault(404)
  if (isOver(payment)) return leave(payment, reply)
  return sendPage(reply, 200, details(visit, payment, false))
}

async function choose(visit: Visit, form: URLSearchParams, reply: FastifyReply) {
  const { journey } = visit
  const before = await journey.find()
  if (!before) throw pageFault(404)
  if (isOver(before)) return leave(before, reply)
  const scenario = readScenario(form)
  if (!scenario) return sendPage(reply, 400, details(visit, before, true))
  if (scenario !== 'success') return end(visit, scenario, reply)
  const payment = await journey.choose('success')
  if (!payment) throw pageFault(404)
  if (isOver(payment)) return leave(payment, reply)
  if (visit.hidden) return sendPage(reply, 200, confirmation(visit, payment))
  return seeOther(reply, `${pathOf(visit)}/confirm`)
}

async function showConfirm(visit: Visit, reply: FastifyReply) {
  const payment = await visit.journey.find()
  if (!payment) throw pageFault(404)
  if (isOver(payment)) return leave(payment, reply)
  if (!payment.success_chosen) return seeOther(reply, pathOf(visit))
  return sendPage(reply, 200, confirmation(visit, payment))
}

async function confirm(
  visit: Visit,
  form: URLSearchParams,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  if (form.getAll('scenario').includes('cancel')) return end(visit, 'cancel', reply)
  const payment = await visit.journey.confirm()
  if (!payment) throw pageFault(404)
  if (isOver(payment)) return leave(payment, reply)
  return visit.hidden ? showDetails(visit, request, reply) : seeOther(reply, pathOf(visit))
}

/** Ends the journey on a page of ours, unless it was over already. */
async function end(visit: Visit, scenario: Exclude<Scenario, 'success'>, reply: FastifyReply) {
  const before = await visit.journey.find()
  if (!before) throw pageFault(404)
  if (isOver(before)) return leave(before, reply)
  const payment = await visit.journey.choose(scenario)
  if (!payment) throw pageFault(404)
  const { language } = payment.given
  const page = endPage(visit, endings[scenario], language, returnAddress(payment))
  return sendPage(reply, 200, page)
}

const pathOf = ({ basePath, journey }: Visit): string => `${basePath}/secure/${journey.token}`

function formTo(visit: Visit, step: 'details' | 'confirm'): Form {
  const { basePath, journey, hidden } = visit
  if (hidden)
    return { action: `${basePath}/secure`, hidden: { chargeTokenId: journey.token, step } }
  return { action: step === 'confirm' ? `${pathOf(visit)}/confirm` : pathOf(visit), hidden: {} }
}

const summaryOf = ({ given }: Payment): PaymentSummary => ({
  description: given.description,
  reference: given.reference,
  amount: given.amount,
  language: given.language,
  email: given.email,
  ...given.prefilled,
})

const details = (visit: Visit, payment: Payment, error: boolean): string =>
  detailsPage(visit, summaryOf(payment), formTo(visit, 'details'), { error })

const confirmation = (visit: Visit, payment: Payment): string =>
  confirmPage(visit, { ...summaryOf(payment), card: cardOf(payment) }, formTo(visit, 'confirm'))

/** return_url as a header can carry it; nothing is added to it. */
function returnAddress({ given }: Payment): string {
  const { return_url = '' } = given
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
  return /^[\x00-\x7f]*$/.test(return_url) ? return_url : new URL(return_url).href
}

const leave = (payment: Payment, reply: FastifyReply) => seeOther(reply, returnAddress(payment))

const seeOther = (reply: FastifyReply, address: string) =>
  reply.code(303).header('Location', address).send()

const sendPage = (reply: FastifyReply, status: number, page: string) =>
  reply.code(status).type('text/html; charset=utf-8').send(page)

const pageFault = (status: number) => new ApiError(status, 'P0911', 'hosted page')

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
  const addresses = addressesOf(request, config)
  setPageHeaders(reply, addresses)
  const { status } = toApiError(error, request)
  return sendPage(reply, status, faultPage({ basePath: pagesPath(addresses) }, status))
}

/** True for the paths whose errors are pages. */
export const isPagePath = (request: FastifyRequest): boolean => isUnder('/secure', request)
