/** The changes to make in a receiver whose signature is wrong. */
export type Advice = { text: string; calls?: readonly { framework: string; call: string }[] }

/** One way in which a body, a key or a signature can be wrong. */
export type Way = {
  /** Stable, for programs. */
  cause: string
  /** Completes a sentence that begins with "the body", "the key" or "the signature". */
  words: string
  advice: Advice
}

/** `value` is undefined if the budget leaves too few bytes for it. */
export type Variant = Way & { value: Buffer | undefined }

/** The cause of a variant without a mistake. */
export const AS_IS = 'as-is'

export const isWrong = ({ cause }: { cause: string }): boolean => cause !== AS_IS

export const rawBody: Advice = {
  text: 'Check the signature over the bytes as they arrived, before anything parses, decodes or prints them:',
  calls: Object.entries({
    Express: "express.raw({ type: 'application/json' })",
    Fastify: "addContentTypeParser('application/json', { parseAs: 'buffer' }, ...)",
    Flask: 'request.get_data()',
    Django: 'request.body',
    Rails: 'request.raw_post',
    Spring: '@RequestBody byte[] body',
    PHP: "file_get_contents('php://input')",
    Go: 'io.ReadAll(r.Body)',
    'ASP.NET Core': 'Request.Body, copied to a MemoryStream',
  }).map(([framework, call]) => ({ framework, call })),
}
export const encoding: Advice = {
  text: 'Give the HMAC the bytes, not a string. If you have a string only, encode it in UTF-8.',
}
export const readBefore: Advice = {
  text: 'The body can be read once. Read it into a variable before the framework parses it, and sign that.',
}
export const theKey: Advice = {
  text: 'Use the whole signing_key as text, with its prefix webhook_test_ if it has one, and nothing before or after it: no quotes, no space, no newline at the end of a file.',
}
export const missingKey: Advice = {
  text: 'The variable or the secret that holds the key is not set where the receiver runs.',
}
export const otherKey: Advice = {
  text: 'Each webhook has a key of its own. Use the one of the webhook that got the message: webhook_id or callback_url says which.',
}
export const apiKey: Advice = {
  text: 'The API key is for requests to the API. The key of signatures is the signing_key in the response to POST /v1/webhooks.',
}
export const theDigest: Advice = {
  text: 'Pay-Signature is the HMAC-SHA256 in lower-case hexadecimal, 64 digits without anything before or after them.',
}
export const theHeader: Advice = {
  text: 'Take the value of the header as it arrived. If a proxy or a log changed it, take it before that.',
}

/** The advice as plain text, with a line for each framework. */
export const adviceText = (advice: readonly Advice[]): string =>
  advice
    .flatMap(({ text, calls = [] }) => [
      text,
      ...calls.map(({ framework, call }) => `${framework}: ${call}`),
    ])
    .join('\n')
