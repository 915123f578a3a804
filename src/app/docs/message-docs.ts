import type { Behaviour } from '../../core/account.ts'
import { version } from '../../core/version.ts'
import { attempts, eventMeanings } from '../../pay/differences/messages.ts'
import { signature } from '../../pay/webhooks/webhook.ts'
import { messageBody } from '../../pay/webhooks/wire.ts'
import { header, type Parameter, requestBody, type Schema } from '../../platform/http/openapi.ts'

/** The body and the key of the description's example of a signature. */
const SHORT_BODY = '{"api_version":1}'
const SIGNING_KEY = 'webhook_test_5b0gjvo83fdsn2f65acga88uog'

/** The webhooks section of the OpenAPI document: the request that a receiver gets. */
export const messageDocs = (resource: Schema, behaviour: Behaviour) => ({
  operationId: 'receiveMessage',
  tags: ['Webhooks'],
  summary: 'A message to your webhook',
  description: `Farthing posts it to the callback_url of every active webhook that is subscribed to the event type, ${attempts[behaviour].when}.

${Object.entries(eventMeanings[behaviour])
  .map(([type, meaning]) => `- \`${type}\`: ${meaning}`)
  .join('\n')}

${attempts[behaviour].words} Messages may arrive twice or out of order. Ignore a message whose signature does not match. This prints the right signature:

\`\`\`
printf '%s' "$BODY" | openssl dgst -sha256 -hmac "$SIGNING_KEY"
\`\`\`

For example, with the signing_key \`${SIGNING_KEY}\` the body \`${SHORT_BODY}\` has the signature \`${signature(SHORT_BODY, SIGNING_KEY)}\`.`,
  security: [],
  parameters: [
    {
      name: 'Pay-Signature',
      in: 'header',
      ...header(
        "HMAC-SHA256 of the bytes of the body, in lower-case hexadecimal. The key is the webhook's whole signing_key, with its prefix",
        { pattern: '^[0-9a-f]{64}$', examples: [signature(SHORT_BODY, SIGNING_KEY)] },
      ),
    },
    {
      name: 'User-Agent',
      in: 'header',
      ...header('Farthing and its version', { examples: [`Farthing/${version}`] }),
    },
  ] satisfies Parameter[],
  requestBody: requestBody(messageBody(resource, behaviour)),
  responses: {
    '2XX': { description: 'Delivered' },
    default: {
      description: `A failed attempt, as is no response within ${attempts[behaviour].timeout / 1_000} seconds`,
    },
  },
})
