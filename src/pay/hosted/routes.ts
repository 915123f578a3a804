import type { FastifyReply, FastifyRequest } from 'fastify'
import { FORM_BYTES, FORM_FIELDS } from '../../core/budgets.ts'
import type { Config } from '../../core/config.ts'
import { inDigits } from '../../core/money.ts'
import { addressesOf, pathOf } from '../../platform/http/addresses.ts'
import type { Area } from '../../platform/http/areas.ts'
import { FORM_TYPE, formBody, formOf } from '../../platform/http/body.ts'
import { type Endpoint, inArea, pathParam } from '../../platform/http/endpoint.ts'
import { pageFault, sendApiError, toApiError } from '../../platform/http/errors.ts'
import { methodOf } from '../../platform/http/fastify.ts'
import {
  html,
  pathParameter,
  redirect,
  requestBody,
  type Schema,
} from '../../platform/http/openapi.ts'
import { object } from '../../platform/http/schema.ts'
import {
  isFromOtherSite,
  pagePolicy,
  sendHtml,
  setPageHeaders,
} from '../../platform/web/headers.ts'
import { type Context, contextOf } from '../context.ts'
import { choices } from '../payments/payment.ts'
import type { JourneyStep, PageOrRedirect } from './journey.ts'
import type { ReturnLink, Site } from './pages.ts'

const pagesSite = ({ pagesUrl, baseUrl, serviceName }: Config): Site => ({
  basePath: pathOf(pagesUrl ?? baseUrl),
  serviceName,
})

/** All responses below /secure have the headers of a page, and errors are HTML pages. */
export function pageArea(context: Context): Pick<Area, 'setHeaders' | 'sendError'> {
  const { config } = context
  const site = pagesSite(config)
  const policy = pagePolicy(config.returnHosts.size > 0)
  const setHeaders = (request: FastifyRequest, reply: FastifyReply) =>
    setPageHeaders(reply, addressesOf(request, config), policy, false)
  /** An unknown path has no payment, and a service that is overloaded must refuse without a query. */
  async function wayBack(request: FastifyRequest, status: number): Promise<ReturnLink | undefined> {
    if (status === 404 || status === 503) return undefined
    const token = pathParam(request, 'token') || (formOf(request.body)?.get('chargeTokenId') ?? '')
    const { findWayBack } = await import('./journey.ts')
    return findWayBack({ context: contextOf(request, context), token })
  }
  return {
    setHeaders,
    sendError(error, request, reply) {
      const { status } = toApiError(error, request, reply)
      setHeaders(request, reply)
      wayBack(request, status)
        .then(async way => {
          const { errorPage } = await import('./pages.ts')
          sendHtml(reply, status, errorPage(site, status, way))
        })
        .catch(failure => sendApiError(failure, request, reply))
    },
  }
}

/** Specification, *Hosted payment pages*. */
export function pageEndpoints(context: Context): Endpoint[] {
  const site = pagesSite(context.config)
  const visit: Visit = (request, token) => ({
    ...site,
    context: contextOf(request, context),
    token: token ?? pathParam(request, 'token'),
    byForm: token !== undefined,
  })
  return [
    ...detailsEndpoints(visit),
    ...confirmEndpoints(visit),
    {
      ...page(
        'GET',
        '/secure',
        'openNoPage',
        'Show the page "Page not found": the address has no token',
      ),
      docs: () => ({
        description:
          'A form can be posted to this path, but there is no page to read. So there is no answer with 200.',
        responses: { 404: html('Always') },
      }),
      handler: answer(async () => undefined),
    },
    journeyByForm(visit),
  ]
}

const page = inArea('pages')

/** The step of a request. `token` is the token in its form; without it the token is in its path. */
type Visit = (request: FastifyRequest, token?: string) => JourneyStep

const detailsEndpoints = (visit: Visit): Endpoint[] => [
  {
    ...page('GET', '/secure/{token}', 'openPaymentPage', 'Show the page to enter payment details'),
    docs: () => ({
      description:
        'The first GET moves the payment from created to started. A HEAD request does not. The page asks how the payment should end, where a real service asks for a card.',
      parameters: [token],
      responses: {
        200: html('The page, in the language of the payment'),
        303: redirect('The payment is finished or capturable', RETURN),
      },
    }),
    handler: answer((journey, request) =>
      journey.showDetails(visit(request), { starts: methodOf(request) !== 'HEAD' }),
    ),
  },
  {
    ...page('POST', '/secure/{token}', 'chooseScenario', 'Choose how the payment ends'),
    accepts: 'form',
    docs: () => ({
      parameters: [token],
      requestBody: form('The form of the page', object('ScenarioForm', { scenario })),
      responses: {
        200: html(
          'For `declined`, `error` and `cancel`: a page that says so, with a Continue button, which is a link to return_url',
        ),
        303: redirect(
          'For `success`, or if the payment was finished or capturable already',
          'The path of the confirm page, or the return_url',
        ),
        400: html(NOTHING_CHOSEN),
        ...postErrors(),
      },
    }),
    handler: answer((journey, request) =>
      journey.choose(fromHere(request, visit(request)), formBody(request)),
    ),
  },
]

const confirmEndpoints = (visit: Visit): Endpoint[] => [
  {
    ...page(
      'GET',
      '/secure/{token}/confirm',
      'openConfirmPage',
      'Show the page to confirm the payment',
    ),
    docs: () => ({
      parameters: [token],
      responses: {
        200: html('The page, with a mock card'),
        303: redirect(
          '`success` was not chosen yet, or the payment is finished or capturable',
          'The path of the first page, or the return_url',
        ),
      },
    }),
    handler: answer((journey, request) => journey.showConfirm(visit(request))),
  },
  {
    ...page('POST', '/secure/{token}/confirm', 'confirmPayment', 'Confirm the payment'),
    accepts: 'form',
    docs: () => ({
      description:
        'The payment becomes success, or capturable with delayed_capture. The response waits until its webhook messages have been tried.',
      parameters: [token],
      requestBody: {
        ...form('The form of the page. It may be empty', confirmForm),
        required: false,
      },
      responses: {
        200: html(
          'For `cancel`: a page that says so, with a Continue button, which is a link to return_url',
        ),
        303: redirect(
          'The payment is confirmed, or was finished or capturable already, or `success` was not chosen yet',
          'The return_url, or the path of the first page if `success` was not chosen',
        ),
        ...postErrors(),
      },
    }),
    handler: answer((journey, request) =>
      journey.confirm(fromHere(request, visit(request)), formBody(request)),
    ),
  },
]

const journeyByForm = (visit: Visit): Endpoint => ({
  ...page('POST', '/secure', 'journeyByForm', 'Show the pages without the token in an address'),
  accepts: 'form',
  docs: () => ({
    description:
      'Post `chargeTokenId` from any site to show the first page. The forms on that page post back here with a `step`. The responses are then pages instead of redirects, so that the token is never in an address.',
    requestBody: form('The params of next_url_post', tokenForm),
    responses: {
      200: html('A page'),
      303: redirect('The payment is finished or capturable', RETURN),
      400: html(NOTHING_CHOSEN),
      ...postErrors(),
    },
  }),
  handler: answer(async ({ choose, confirm, showDetails }, request) => {
    const fields = formBody(request)
    const [token, ...more] = fields.getAll('chargeTokenId')
    if (token === undefined || more.length > 0) return undefined
    const step = fields.get('step')
    // Only the first request, which has no step, comes from the client's site.
    const here = visit(request, token)
    if (step !== null) fromHere(request, here)
    if (step === 'details') return choose(here, fields)
    if (step === 'confirm') return confirm(here, fields)
    return showDetails(here, { starts: true })
  }),
})

type Journey = typeof import('./journey.ts')

/** Loaded for the first request to a page. */
let journey: Journey | undefined

function answer(next: (journey: Journey, request: FastifyRequest) => Promise<PageOrRedirect>) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    journey ??= await import('./journey.ts')
    const shown = await next(journey, request)
    if (!shown) throw pageFault(404)
    if ('page' in shown) {
      if (shown.toHttp) void reply.header('content-security-policy', pagePolicy(true))
      return sendHtml(reply, shown.status, shown.page)
    }
    return reply.code(303).header('location', inAscii(shown.location)).send()
  }
}

/** Encodes an address that a header cannot carry, because it is not ASCII. Any other stays exactly as it was given. */
const inAscii = (address: string): string =>
  /^[!-~]*$/.test(address) ? address : new URL(address).href

/** The step of a form of these pages. Throws if another site made the browser submit it (CSRF). */
function fromHere(request: FastifyRequest, step: JourneyStep): JourneyStep {
  if (isFromOtherSite(request, step.context.config)) throw pageFault(403)
  return step
}

const token = pathParameter(
  'token',
  'From next_url of a web payment. It works until the payment is 7 days old',
)

const RETURN = 'The return_url of the payment. Characters that are not ASCII are encoded'
const NOTHING_CHOSEN =
  'No valid scenario was chosen. The page is shown again with an error. The payment is unchanged'

const form = (description: string, schema: Schema) => ({
  description,
  ...requestBody(schema, [FORM_TYPE]),
})

const postErrors = () => ({
  403: html(
    'The form was sent from another site (Sec-Fetch-Site or Origin). The payment is unchanged',
  ),
  413: html(`The form has more than ${inDigits(FORM_BYTES)} bytes`),
  415: html('The body is not application/x-www-form-urlencoded'),
  422: html(`The form has more than ${FORM_FIELDS} fields`),
})

const scenario = {
  type: 'string',
  enum: choices,
  description:
    '`success` leads to the confirm page. `declined` ends as failed with P0010, `error` as error with P0050, `cancel` as failed with P0030',
} as const

const confirmForm = object(
  'ConfirmForm',
  {},
  {
    scenario: {
      type: 'string',
      description:
        '`cancel` ends the payment as failed with P0030. Any other value, or none, confirms it',
    },
  },
)

const tokenForm = object(
  'TokenForm',
  { chargeTokenId: { type: 'string', description: 'From next_url_post of a web payment' } },
  {
    step: {
      type: 'string',
      description:
        'Sent by the forms on these pages: `details` or `confirm`. Leave it out to show the first page',
    },
    scenario,
  },
)
