import type { Behaviour } from '../../core/account.ts'
import { postsASecond, takenType } from '../../pay/differences/arriving.ts'
import { wordsOf } from '../../pay/differences/difference.ts'
import { attempts } from '../../pay/differences/messages.ts'
import { refundSubmittedFor } from '../../pay/differences/refunds.ts'
import { captureDelay, chargeDelay, expiry, keptFor } from '../../pay/differences/states.ts'

/** The differences between the behaviours that every client meets. */
const differing = (behaviour: Behaviour): string =>
  [
    takenType,
    postsASecond,
    keptFor,
    expiry,
    chargeDelay,
    captureDelay,
    refundSubmittedFor,
    attempts,
  ]
    .map(difference => `- ${difference.about.subject}: ${wordsOf(difference, behaviour)}`)
    .join('\n')

/** The rules of every endpoint: the first part of the API's description. */
export const introductionFor = (behaviour: Behaviour): string =>
  `Farthing is a payment service that moves no money: a stand-in for the public API of GOV.UK Pay that keeps real state. You can read back what you create, pay it on hosted pages, capture, cancel and refund it, and Farthing sends signed webhook messages about it.

It is compatible with GOV.UK Pay's public API, and not affiliated with GOV.UK Pay or the UK government. The error codes P0910 to P0913 and P2700 to P2702 are Farthing's own, because GOV.UK Pay has none for these cases.

## Keys

Every endpoint under \`/v1\` except \`POST /v1/auth\` needs the header \`Authorization: Bearer YOUR_API_KEY\`: the word Bearer, one space, the key. The first start prints a key, unless \`FARTHING_API_KEY\` sets it. \`farthing keys create\` (in a clone: \`npm start -- keys create\`) makes more. A key belongs to an account and sees only what that account made.

## Requests

- A body is one JSON object in UTF-8 of at most 65,536 bytes. Its Content-Type is \`application/json\`. It has no Content-Encoding. Unknown keys are ignored. If a key occurs twice, the last counts.
- Lengths are counted in UTF-16 code units. No text may contain U+0000 or half of a surrogate pair.
- HEAD works wherever GET does, without an effect. A slash at the end of a path is accepted. There is no CORS, because the API is for servers.
- The response reports the first problem found. Checks run in this order: the key (401), the path (404), the method (405), the media type (400), the size (413), one JSON object (400), the fields, whether the resource in the path exists (404), whether its state allows the request.

## Responses

- Bodies are JSON in UTF-8. Amounts are whole pence. Times are in UTC with exactly three fraction digits. Fields without a value are left out. A few are null: this document says which.
- Links are absolute. Follow the links of a response. One that does not apply is absent, or null where this document says so.
- Every response under \`/v1\` has \`Cache-Control: no-store\`.
- We may add fields to responses. Ignore any you do not recognise.
- An error has a code and a description for developers. \`field\` or \`header\` names the attribute or header at fault, if it is one. Decide by the status and the code, because descriptions may change.

## Behaviour ${behaviour}

${differing(behaviour)}

The pages of a payment work for 7 days. Agreements and webhooks stay.

## What it does not do

There is no card entry, no 3D Secure, no wallets and no confirmation email. You cannot change a webhook or replace its key, and payments are never settled.`

/** The chapters of the documentation, in its order, with their descriptions. */
export const chapterTexts = {
  Payments: `A payment starts as created. It becomes started when the user opens its page or when you post a card. An authorised payment goes through submitted to success, or to capturable if its capture is delayed. The other final states are failed, error and cancelled.

- web: send the user's browser to \`next_url\`. A page asks how the payment should end, and the browser comes back to \`return_url\`, which carries no result. Then read the payment.
- moto_api: post the card and the one_time_token to \`/v1/auth\`.
- agreement: an active agreement pays.`,
  Refunds: 'All or part of a payment whose status is success, as often as something is left.',
  Agreements:
    'Permission to take recurring payments. A new agreement is created. A web payment that sets it up makes it active and leaves its card. Payments in agreement mode use that card.',
  Disputes: 'Sample records, to try a search with.',
  Webhooks: 'Farthing calls your webhooks, with signed messages, when payments change.',
  'Hosted pages':
    "The pages to send the user's browser to. They are in English or Welsh, as the payment says. They work without cookies and JavaScript. Anyone with the link can pay; the link cannot be guessed. Errors are pages too.",
  'About this service': 'Its description, its pages for people, and its health. They need no key.',
}

/** The first part of the description of the control API. */
export const controlIntroduction = `The control API is for authors of tests: it makes test accounts, sets how payments end, moves time, plans faults, waits, and shows what happened. The application under test never needs it.

\`FARTHING_CONTROL=true\` switches it on. Without it there are only the endpoints that read and check the record, send messages to receivers, listen, or open the console. Every endpoint but this document takes the bearer key of the API and acts on the key's own account.

Bodies are JSON in UTF-8 of at most 65,536 bytes. Unlike under \`/v1\`, an unknown field or query parameter is an error. Times are ISO 8601 in UTC, durations are whole milliseconds. Amounts are whole pence.`
