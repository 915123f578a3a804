/** The hosted pages and their assets in /openapi.json. */
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

const RETURN = 'The return_url of the payment, unchanged'

/** The choices of the picker. */
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
        '`cancel` ends the payment as failed with P0030. Any other value, or none, confirms it',
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
        'Sent by the forms on these pages: `details` or `confirm`. Leave it out to show the first page',
    },
    scenario,
  },
} as const

const notFound = html('No web payment has this token, or the payment is more than 7 days old')
const wrongMethod: Answer = {
  ...html('The method is not GET, HEAD or POST'),
  headers: commonHeaders[405],
}
const fault = html('Farthing has failed')
const busy: Answer = {
  ...html('Farthing is handling too many requests'),
  headers: commonHeaders[503],
}

/** Errors are pages too, in English and Welsh. */
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
  403: html('The form was sent from another site (Sec-Fetch-Site). The payment is unchanged'),
  413: html('The form has more than 65,536 bytes'),
  415: html('The body is not application/x-www-form-urlencoded'),
}

const openPaymentPage = page({
  summary: 'Show the page to enter payment details',
  description:
    'The first GET moves the payment from created to started. A HEAD request does not. The page asks how the payment should end, where a real service asks for a card.',
  parameters: [token],
  responses: {
    200: html('The page, in the language of the payment'),
    303: redirect('The payment is finished or capturable', RETURN),
  },
})

const chooseScenario = page({
  summary: 'Choose how the payment ends',
  parameters: [token],
  requestBody: form('The form of the page', scenarioForm, {
    'The payment goes through': { scenario: 'success' },
    'The card is declined': { scenario: 'declined' },
  }),
  responses: {
    200: html(
      'For `declined`, `error` and `cancel`: a page that says so, with a link to return_url',
    ),
    303: redirect(
      'For `success`, or if the payment was finished or capturable already',
      'The path of the confirm page, or the return_url',
    ),
    400: html(
      'No valid scenario was chosen. The page is shown again with an error. The payment is unchanged',
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
      '`success` was not chosen yet, or the payment is finished or capturable',
      'The path of the first page, or the return_url',
    ),
  },
})

const confirmPayment = page({
  summary: 'Confirm the payment',
  description:
    'The payment becomes success, or capturable with delayed_capture. The response waits until its webhook messages have been tried.',
  parameters: [token],
  requestBody: {
    ...form('The form of the page. It may be empty', confirmForm, {
      Confirm: {},
      Cancel: { scenario: 'cancel' },
    }),
    required: false,
  },
  responses: {
    200: html('For `cancel`: a page that says so, with a link to return_url'),
    303: redirect(
      'The payment is confirmed, or was finished or capturable already, or `success` was not chosen yet',
      'The return_url, or the path of the first page if `success` was not chosen',
    ),
    ...postErrors,
  },
})

const journeyByForm = page({
  summary: 'Show the pages without the token in an address',
  description:
    'Post `chargeTokenId` from any site to show the first page. The forms on that page post back here with a `step`. The responses are then pages instead of redirects, so that the token is never in an address.',
  requestBody: form('The params of next_url_post', tokenForm, {
    'The first page': { chargeTokenId: hostedToken },
    'A choice on it': { chargeTokenId: hostedToken, step: 'details', scenario: 'success' },
  }),
  responses: {
    200: html('A page'),
    303: redirect('The payment is finished or capturable', RETURN),
    400: html(
      'No valid scenario was chosen. The page is shown again with an error. The payment is unchanged',
    ),
    ...postErrors,
  },
})

const openNoPage = page({
  summary: 'Show Page not found, because there is no token',
  responses: { 404: html('Always') },
})

const readAsset = open({
  summary: 'Read a file of the pages',
  description:
    'Names contain a hash of the content, so a file never changes and may be cached for a year.',
  parameters: [pathParameter('name', 'As it is linked in a page', 'app-0123456789abcdef.css')],
  answers: {
    200: {
      description: 'The file, compressed with gzip if Accept-Encoding lists it',
      headers: {
        'Cache-Control': header('The file may be cached for a year', {
          const: 'public, max-age=31536000, immutable',
        }),
        ETag: header('It differs between the plain and the compressed file'),
      },
      content: {
        'text/css': { schema: { type: 'string' } },
        'text/javascript': { schema: { type: 'string' } },
        'image/svg+xml': { schema: { type: 'string' } },
      },
    },
    304: { description: 'If-None-Match contains the ETag of the file' },
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
