/** Differences in the treatment of a request before its fields are read. */
import { isForm } from '../../platform/http/body.ts'
import type { Json } from '../../platform/http/fields.ts'
import { CARDS, difference } from './difference.ts'
import { documented, inCode } from './source.ts'
import { isJsonType, mayHold, takesJson, textsIn } from './values.ts'

const FIREWALL = documented('api_reference/#gov-uk-pay-api-error-codes')
const ANY = /./
const REQUESTS = { operation: ANY, lacking: 'No request to /v1 succeeded.' }

/** Whether a request with these fields and parameters of its query is blocked. */
export const blockedText = difference<(body: Json, query?: unknown) => boolean>({
  subject: 'Characters in requests',
  specification: '<, > and | are refused in `reference` and `description` only',
  govukPay: 'Its firewall blocks <, > and | anywhere else too, with 400 P0920',
  source: FIREWALL,
  rule: {
    id: 'P5',
    level: 'warn',
    advice: 'Replace or remove these characters.',
    among: REQUESTS,
    answer: (isBlocked, asked) => mayHold(asked) && isBlocked(asked.body, [...asked.query]),
  },
  decides: {
    specification: () => false,
    'govuk-pay': ({ reference, description, ...others }, query) =>
      textsIn([others, query]).some(text => /[<>|]/.test(text)),
  },
})

/** Whether a request with this Accept header is answered. */
export const takenAccept = difference<(accept: string | undefined) => boolean>({
  subject: 'The Accept header',
  specification: 'It is ignored',
  govukPay: 'Its firewall blocks one that takes no application/json, with 400 P0920',
  source: FIREWALL,
  rule: {
    id: 'P6',
    level: 'warn',
    advice: 'Send Accept: application/json.',
    among: REQUESTS,
    whenever: true,
    answer: (isTaken, { headers }) => isTaken(headers.accept),
  },
  decides: { specification: () => true, 'govuk-pay': takesJson },
})

/** Whether the body of a request with this Content-Type is read, if the specification reads it as JSON. */
export const takenType = difference<(type: string | undefined) => boolean>({
  subject: 'Content-Type of requests',
  specification: 'No type, and types that end in +json, count as JSON',
  govukPay:
    'Its firewall blocks a create without application/json, or without a body, with 400 P0920',
  source: inCode('publicapi', 'resources/PaymentsResource.java', '266'),
  rule: {
    id: 'P16',
    level: 'warn',
    advice: 'Send Content-Type: application/json with each body.',
    among: {
      operation: /^(?:create|refund|authorise)/,
      lacking: 'No request with a body succeeded.',
    },
    answer: (isTaken, asked) =>
      asked.method === 'POST' &&
      asked.text !== '' &&
      !isForm(asked) &&
      isTaken(asked.headers['content-type']),
  },
  decides: { specification: () => true, 'govuk-pay': isJsonType },
})

export const takesCardForms = difference<boolean>({
  subject: 'Form of card details',
  specification: 'JSON or a form',
  govukPay: 'JSON only, a form is 400 P0920',
  source: inCode('publicapi', 'resources/AuthorisationResource.java', '43'),
  rule: {
    id: 'P10',
    level: 'warn',
    advice: 'Send JSON with Content-Type: application/json.',
    among: CARDS,
    answer: (takesForms, asked) => isForm(asked) && takesForms,
  },
  decides: { specification: true, 'govuk-pay': false },
})

/** The most POSTs of an account in a second of the machine's clock: creates, captures and others count separately. */
export const postsASecond = difference<number>({
  subject: 'Rate limits',
  specification: 'None',
  govukPay:
    '429 P0900 for more than 15 creates, captures or other POSTs of an account in a second. A load test is agreed by e-mail',
  source: inCode('publicapi settings', 'config.yaml', '41-49'),
  noRule: 'P13',
  decides: { specification: Number.POSITIVE_INFINITY, 'govuk-pay': 15 },
})
