/** Describes the endpoints of webhooks, and the message sent to a webhook, for /openapi.json. */
import {
  fieldCodes,
  invalid,
  missing,
  notAnObject,
  webhookNotFound,
  wrongMediaType,
} from '../errors.ts'
import {
  behindKey,
  describeBody,
  json,
  noContent,
  type Operation,
  type Operations,
  pathParameter,
  type Schema,
  searchParts,
} from '../http/describe.ts'
import { timeOf } from '../ids.ts'
import { MUST_BE_PUBLIC } from '../outbound/address.ts'
import { version } from '../version.ts'
import { messageSearch, webhookSearch } from './routes.ts'
import { deliveryStatus, type EventType, messagesFor, signature, type Webhook } from './webhook.ts'
import {
  listedWebhook,
  messageBody,
  newWebhook,
  present,
  presentListed,
  presentMessage,
  webhook,
  webhookMessage,
} from './wire.ts'

const codes = fieldCodes.webhook

/** The resource in messages: the schema of a payment, and an example that was just captured. */
export type Resource = { schema: Schema; example: { payment_id: string } }

const request = {
  callback_url: 'https://ledger.example.org/payments',
  description: 'Ledger',
  subscriptions: ['card_payment_captured', 'card_payment_refunded'] satisfies EventType[],
}
const example: Webhook = {
  webhook_id: '06glkd1835oa9lg4ivrt1l7qjo',
  account: 'example',
  status: 'ACTIVE',
  ...request,
  signing_key: 'webhook_test_5b0gjvo83fdsn2f65acga88uog',
}
/** Contains no address of this service, so that its signature is the same for every reader. */
const SHORT_BODY = '{"api_version":1}'
const MESSAGE_ID = '06gq1chf6o28tvbu9983l9j660'

const webhookId = pathParameter('webhook_id', 'The external_id of the webhook', example.webhook_id)
const history = messageSearch(example.webhook_id)

function exampleMessage({ example: resource }: Resource) {
  const at = timeOf(MESSAGE_ID)
  const change = {
    payment_id: resource.payment_id,
    at,
    eventTypes: ['card_payment_captured'] satisfies EventType[],
    resource,
  }
  const [message] = messagesFor(change, [example], () => MESSAGE_ID)
  if (!message) throw new Error('the example webhook is not subscribed')
  return message
}

function historyExample(resource: Resource) {
  const message = exampleMessage(resource)
  const attempts = [
    {
      at: message.created + 6,
      status: 'FAILED',
      status_code: null,
      response_time: 2001,
      result: 'timeout',
    },
    {
      at: message.created + 2009,
      status: 'SUCCESSFUL',
      status_code: 200,
      response_time: 38,
      result: '200 OK',
    },
  ] as const
  const row = { ...message, status: deliveryStatus(attempts), attempts: JSON.stringify(attempts) }
  return presentMessage(row, message.created)
}

const createWebhook = behindKey({
  summary: 'Register a webhook',
  description: `The callback_url must be https and must have public addresses only. Private, loopback and link-local addresses are refused, unless the operator lists the host in the setting \`FARTHING_CALLBACK_HOSTS\`. A listed host may also use http. The host name is resolved at registration and again at every delivery, and its addresses are checked each time.

Keep the signing_key. It signs every message. You cannot change a webhook or replace its key. Register another webhook instead.`,
  requestBody: describeBody(newWebhook, { 'Two event types': request }),
  answers: {
    201: json('The webhook, with its signing key', webhook, { 'A webhook': present(example) }),
  },
  errors: [
    notAnObject('P0197'),
    wrongMediaType('application/json'),
    missing(codes, 'callback_url'),
    invalid(codes, 'callback_url', MUST_BE_PUBLIC),
  ],
})

const listWebhooks = behindKey({
  summary: 'List webhooks',
  description: 'Newest first, with deactivated webhooks. Signing keys are not shown.',
  ...searchParts(webhookSearch, listedWebhook, presentListed(example), ['page']),
})

const readWebhook = behindKey({
  summary: 'Read a webhook',
  parameters: [webhookId],
  answers: {
    200: json('The webhook, with its signing key', webhook, { 'A webhook': present(example) }),
  },
  errors: [webhookNotFound()],
})

const deleteWebhook = behindKey({
  summary: 'Deactivate a webhook',
  description:
    'Farthing sends it no new messages and its status becomes INACTIVE. You can still read it and its history. Deleting it again changes nothing. A request body is ignored.',
  parameters: [webhookId],
  answers: { 204: noContent('The webhook is deactivated') },
  errors: [webhookNotFound()],
})

function listWebhookMessages(resource: Resource): Operation {
  const search = searchParts(history, historyItem(resource), historyExample(resource), [
    'display_size',
  ])
  return behindKey({
    summary: "Read a webhook's delivery history",
    description:
      'Every message, newest first, with its attempts and the body that was sent. A payment is deleted after 7 days. Its messages stay, and their body is then null.',
    ...search,
    parameters: [webhookId, ...search.parameters],
    errors: [webhookNotFound(), ...search.errors],
  })
}

const historyItem = ({ schema }: Resource) => ({
  ...webhookMessage,
  properties: {
    ...webhookMessage.properties,
    body: {
      anyOf: [messageBody(schema), { type: 'null' }],
      description: webhookMessage.properties.body.description,
    },
  },
})

export const operationsWith = (resource: Resource): Operations => ({
  createWebhook,
  listWebhooks,
  readWebhook,
  deleteWebhook,
  listWebhookMessages: listWebhookMessages(resource),
})

/** The `webhooks` section of the OpenAPI document: the request that a receiver gets. */
export function messageWith(resource: Resource): { post: Operation & { operationId: string } } {
  const { body } = exampleMessage(resource)
  const content = describeBody(messageBody(resource.schema), {
    'A payment was captured': JSON.parse(body),
  })
  return {
    post: {
      operationId: 'receiveMessage',
      tags: ['Webhooks'],
      summary: 'A message to your webhook',
      description: `Farthing posts this to the callback_url of every active webhook that subscribes to the event type. It does so after it has stored the change, and before it responds to the request that caused the change.

- \`card_payment_succeeded\`: the payment was authorised: its status became success or capturable
- \`card_payment_captured\`: its status became success, at once or by a capture
- \`card_payment_refunded\`: a refund was submitted
- \`card_payment_failed\`: the card was declined, the provider had an error, or the user cancelled
- \`card_payment_cancelled\`: the payment was cancelled through the API
- \`card_payment_settled\`: never sent, because Farthing does not settle payments

Farthing makes at most two attempts. Each takes at most 2 seconds, and the second follows the first at once. Redirects are not followed. A message may arrive twice, and messages may arrive out of order. Ignore a message whose signature does not match. This prints the expected signature:

\`\`\`
printf '%s' "$BODY" | openssl dgst -sha256 -hmac "$SIGNING_KEY"
\`\`\`

For example, with the signing_key \`${example.signing_key}\` the body \`${SHORT_BODY}\` has the signature \`${signature(SHORT_BODY, example.signing_key)}\`.`,
      security: [],
      parameters: [
        {
          name: 'Pay-Signature',
          in: 'header',
          required: true,
          description:
            'HMAC-SHA256 of the bytes of the body, in lower-case hexadecimal. The key is the whole signing_key of the webhook, with its prefix',
          schema: {
            type: 'string',
            pattern: '^[0-9a-f]{64}$',
            examples: [signature(SHORT_BODY, example.signing_key)],
          },
        },
        {
          name: 'User-Agent',
          in: 'header',
          required: true,
          description: 'Farthing and its version',
          schema: { type: 'string', examples: [`Farthing/${version}`] },
        },
      ],
      requestBody: content,
      responses: {
        '2XX': { description: 'Delivered' },
        default: { description: 'Any other status, or none within 2 seconds, is a failed attempt' },
      },
    },
  }
}
