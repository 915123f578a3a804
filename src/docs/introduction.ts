/** What the description of the API says of everything at once. */
export const introduction = `Farthing is a payment service that moves no money: a stand-in for the public API of GOV.UK Pay that keeps real state. What is created can be read back, paid on hosted pages, captured, cancelled and refunded, and webhooks hear of it in signed messages.

It is compatible with GOV.UK Pay's public API, and not affiliated with GOV.UK Pay or the UK government. The error codes P0910 to P0913 and P2700 to P2702 are Farthing's own: GOV.UK Pay has none for these cases.

## Keys

Every endpoint under \`/v1\` but \`POST /v1/auth\` needs the header \`Authorization: Bearer YOUR_API_KEY\`: the word Bearer, one space, the key. The first start prints a key, and \`farthing keys create\` (in a clone: \`npm start -- keys create\`) makes more. A key belongs to an account, and everything that another account made is unknown to it.

## Requests

- A body is one JSON object in UTF-8 of at most 65,536 bytes. Its Content-Type is \`application/json\`, any \`application/...+json\`, or none; it has no Content-Encoding. Keys that are not described are ignored, and of equal keys the last counts.
- Lengths are counted in UTF-16 code units. No text may hold U+0000 or half of a surrogate pair.
- HEAD is answered wherever GET is, without an effect. A slash at the end of a path is accepted. There is no CORS: the API is for servers.
- The first fault is the answer. The order is: the key (401), the path (404), the method (405), the media type (415), the size (413), one JSON object (400), the fields, whether what the path names exists (404), whether its state allows it.

## Answers

- Bodies are JSON in UTF-8. Amounts are whole pence. Times are in UTC with exactly three fraction digits. What is not known is absent; it is null only where this document says so.
- Links are absolute. Follow those that an answer has: one that does not apply is absent.
- Every answer under \`/v1\` has \`Cache-Control: no-store\`.
- New keys may come to answers, so ignore those that you do not know.
- An error has a code and a description for developers; where one attribute or header is at fault, \`field\` or \`header\` names it. Decide by the status and the code.

## Time

A payment is kept for 7 days from its creation. Then its endpoints answer 404, its pages are not found and its Idempotency-Key is free. Agreements and webhooks stay. A refund reads submitted for 5 seconds and then success.

## What it does not do

There is no rate limit (429 is described and never sent), no card entry, no check of a card beyond its format, no 3D Secure, no wallets, no 90 minute expiry and no confirmation email. A webhook cannot be changed and its key not replaced. Nothing is ever settled.`

/** In the order in which the documentation shows them. */
export const tags = [
  {
    name: 'Payments',
    description: `A payment begins as created. It is started when the user opens its page, or when you post a card; an authorised payment passes through submitted to success, or to capturable if its capture is delayed. failed, error and cancelled are the other ends.

- web: send the user's browser to \`next_url\`. A page asks how the payment should end, and the browser comes back to \`return_url\`, which carries no result: read the payment.
- moto_api: post the card and the one_time_token to \`/v1/auth\`.
- agreement: an active agreement pays, and the payment succeeds at once.`,
  },
  {
    name: 'Refunds',
    description: 'All or part of a payment that is success, as often as something is left.',
  },
  {
    name: 'Agreements',
    description:
      'Permission to take recurring payments. An agreement is created; a web payment that sets it up makes it active and leaves its card; payments in agreement mode use that card.',
  },
  { name: 'Disputes', description: 'Sample records, to try a search with.' },
  {
    name: 'Webhooks',
    description:
      'Addresses of yours that are told, in signed messages, how payments end. The request that changes a payment waits until its messages are delivered or given up.',
  },
  {
    name: 'Hosted pages',
    description:
      "What the user's browser is sent to. The pages are in English or Welsh, as the payment says. They set no cookie, need no script, and who has the address may pay: it is unguessable. Errors are pages too.",
  },
  {
    name: 'About this service',
    description: 'Its description, its pages for people, and its health. No key is needed.',
  },
]
