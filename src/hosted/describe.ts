/** What /openapi.json says of the hosted pages and the files that they load. */
import { noSuchEndpoint } from '../errors.ts'
import { FORM_TYPE } from '../http/body.ts'
import {
  type Answer,
  commonHeaders,
  describeBody,
  header,
  html,
  type Operation,
  type Operations,
  open,
  pathParameter,
  redirect,
  type Schema,
} from '../http/describe.ts'
import { hostedToken } from '../payments/examples.ts'
import { scenarios } from './journey.ts'

const token = pathParameter(
  'token',
  'From next_url of a web payment. It works until the payment is 7 days old',
  hostedToken,
)

const RETURN = 'The return_url of the payment, with nothing added'

/** A choice of the picker, and what each leads to. */
export const scenario = {
  type: 'string',
  enum: scenarios,
  description:
    '`success` leads to the confirm page. `declined` ends as failed with P0010, `error` as error with P0050, `cancel` as failed with P0030',
} as const

const scenarioForm = {
  title: 'ScenarioForm',
  type: 'object',
  required: ['scenario'],
  properties: { scenario },
} as const

const confirmForm = {
  title: 'ConfirmForm',
  type: 'object',
  properties: {
    scenario: {
      type: 'string',
      description:
        '`cancel`: the payment ends as failed with P0030. Anything else, or nothing, confirms it',
    },
  },
} as const

const tokenForm = {
  title: 'TokenForm',
  type: 'object',
  required: ['chargeTokenId'],
  properties: {
    chargeTokenId: { type: 'string', description: 'From next_url_post of a web payment' },
    step: {
      type: 'string',
      description:
        '`details` or `confirm`: what the page that POST /secure answered with sends on. Without it, the first page',
    },
    scenario,
  },
} as const

const notFound = html('No web payment of the last 7 days has this token')
const wrongMethod: Answer = {
  ...html('Any method but GET, HEAD and POST'),
  headers: commonHeaders[405],
}
const fault = html('A fault of the service')
const busy: Answer = {
  ...html('More requests at once than the service can do'),
  headers: commonHeaders[503],
}

/** Errors of pages are pages, in English and Welsh. */
const page = (parts: Operation): Operation => ({
  security: [],
  ...parts,
  responses: { 404: notFound, 405: wrongMethod, 500: fault, 503: busy, ...parts.responses },
})

const form = (description: string, schema: Schema, examples: Record<string, unknown>) => ({
  description,
  ...describeBody(schema, examples, [FORM_TYPE]),
})

const postErrors = {
  403: html('The form comes from another site (Sec-Fetch-Site). Nothing has changed'),
  413: html('The form is over 65,536 bytes'),
  415: html('The body is not application/x-www-form-urlencoded'),
}

const openPaymentPage = page({
  summary: 'Show the page to enter payment details',
  description:
    'The first showing moves the payment from created to started; a HEAD request does not. In place of card entry the page asks how the payment should end.',
  parameters: [token],
  responses: {
    200: html('The page, in the language of the payment'),
    303: redirect('The payment is finished or capturable', RETURN),
  },
})

const chooseScenario = page({
  summary: 'Choose how the payment ends',
  parameters: [token],
  requestBody: form('What the page sends', scenarioForm, {
    'The payment goes through': { scenario: 'success' },
    'The card is declined': { scenario: 'declined' },
  }),
  responses: {
    200: html('`declined`, `error`, `cancel`: the page that says so, with a link to return_url'),
    303: redirect(
      '`success`, or the payment was over already',
      'The confirm page, as a path; or the return_url',
    ),
    400: html(
      'Not one of the scenarios was chosen: the page again, with an error. Nothing changes',
    ),
    ...postErrors,
  },
})

const openConfirmPage = page({
  summary: 'Show the page to confirm the payment',
  parameters: [token],
  responses: {
    200: html('The page, with a mock card'),
    303: redirect(
      '`success` was not chosen yet, or the payment is over',
      'The first page, as a path; or the return_url',
    ),
  },
})

const confirmPayment = page({
  summary: 'Confirm the payment',
  description: 'The payment becomes success, or capturable. The answer waits for the webhooks.',
  parameters: [token],
  requestBody: {
    ...form('What the page sends; nothing is needed', confirmForm, {
      Confirm: {},
      Cancel: { scenario: 'cancel' },
    }),
    required: false,
  },
  responses: {
    200: html('`cancel`: the page that says so, with a link to return_url'),
    303: redirect(
      'Confirmed, or over already; or `success` was not chosen yet',
      'The return_url; or the first page, as a path',
    ),
    ...postErrors,
  },
})

const journeyByForm = page({
  summary: 'Show the pages without the token in an address',
  description:
    'With chargeTokenId alone it answers as `GET /secure/{token}`, and any site may post it. The forms on its pages come back here with a step, and then it answers as the two endpoints that take a form, with pages where those redirect to pages.',
  requestBody: form('The params of next_url_post', tokenForm, {
    'The first page': { chargeTokenId: hostedToken },
    'A choice on it': { chargeTokenId: hostedToken, step: 'details', scenario: 'success' },
  }),
  responses: {
    200: html('A page'),
    303: redirect('The payment is over', RETURN),
    400: html(
      'Not one of the scenarios was chosen: the page again, with an error. Nothing changes',
    ),
    ...postErrors,
  },
})

const openNoPage = page({
  summary: 'There is no page without a token',
  responses: { 404: html('Always') },
})

const readAsset = open({
  summary: 'Read a file of the pages',
  description: 'Names hold a hash of the content, so a file may be kept for ever.',
  parameters: [pathParameter('name', 'As a page gives it', 'app-0123456789abcdef.css')],
  answers: {
    200: {
      description: 'The file, compressed with gzip if Accept-Encoding lists it',
      headers: {
        'Cache-Control': header('For a year', { const: 'public, max-age=31536000, immutable' }),
        ETag: header('Of this encoding'),
      },
      content: {
        'text/css': { schema: { type: 'string' } },
        'text/javascript': { schema: { type: 'string' } },
        'image/svg+xml': { schema: { type: 'string' } },
      },
    },
    304: { description: 'If-None-Match holds its ETag' },
  },
  errors: [noSuchEndpoint()],
})

export const operations: Operations = {
  openPaymentPage,
  chooseScenario,
  openConfirmPage,
  confirmPayment,
  journeyByForm,
  openNoPage,
  readAsset,
}
