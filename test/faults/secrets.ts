/** Canaries: secrets of every kind that are sent wherever a client could put them, and searched for afterwards. */
import assert from 'node:assert/strict'
import { createClient } from '../support/client.ts'
import { tokenOf } from '../support/expected-payment.ts'
import { exchangeBytes, sendRaw } from '../support/raw-http.ts'

export type Canaries = Awaited<ReturnType<typeof plant>>

const CARD = '5105739164820357'
const LONG_CARD = '6011852963741852963'
const DECLINED = '4000000000000002'
const CVC = '7319'
const OTHER_CVC = '9173'
const JSON_TYPE = 'Content-Type: application/json'

/** Sends good and bad requests with canaries in them. Returns the canaries. */
export async function plant(baseUrl: string, key: string) {
  const api = createClient([baseUrl], key)
  const web = await api.createPayment()
  const [paid, refused, spoilt] = [
    await api.createPayment({ authorisation_mode: 'moto_api' }),
    await api.createPayment({ authorisation_mode: 'moto_api' }),
    await api.createPayment({ authorisation_mode: 'moto_api', delayed_capture: true }),
  ]
  const token = tokenOf(web)
  const card = { card_number: CARD, cardholder_name: 'A Payer', cvc: CVC, expiry_date: '09/39' }
  const wrongKey = `${key.slice(0, -4)}0000`
  // Nothing listens at this port. The failed attempts are logged, and must not show the signing key.
  const webhook = await api.post('/v1/webhooks', { callback_url: 'http://localhost:9/hook' })
  const lost = await api.post('/v1/webhooks', {
    callback_url: 'https://nobody.example.org/',
    subscriptions: ['card_payment_captured'],
  })
  for (const { status, text } of [webhook, lost]) assert.equal(status, 201, text)

  const ok = await api.post('/v1/auth', { one_time_token: tokenOf(paid), ...card })
  assert.equal(ok.status, 204, ok.text)
  const declined = { ...card, one_time_token: tokenOf(refused), card_number: DECLINED }
  assert.equal((await api.post('/v1/auth', declined)).status, 402)
  await spoil(baseUrl, key, { one_time_token: tokenOf(spoilt), ...card })
  await visit(baseUrl, token)
  await refuse(baseUrl, key, token)
  await misuse(baseUrl, [key, wrongKey], token)
  assert.equal((await api.get(`/v1/payments/${spoilt.payment_id}`)).body.state.status, 'created')
  return {
    cardNumbers: [CARD, LONG_CARD],
    /** Four digits each. */
    cvcs: [CVC, OTHER_CVC],
    apiKeys: [key, wrongKey],
    signingKeys: [webhook.body.signing_key, lost.body.signing_key],
    tokens: [token, ...[paid, refused, spoilt].map(tokenOf)],
  }
}

/** Faulty requests to POST /v1/auth, each with a card number. */
async function spoil(baseUrl: string, key: string, good: Record<string, string>): Promise<void> {
  const whole = JSON.stringify(good)
  const form = new URLSearchParams(good).toString()
  const long = JSON.stringify({ ...good, card_number: LONG_CARD, cvc: OTHER_CVC })
  const attempts: [body: string, ...head: string[]][] = [
    [JSON.stringify({ ...good, expiry_date: '13/99' })],
    [JSON.stringify({ ...good, cvc: OTHER_CVC, cardholder_name: '' })],
    [JSON.stringify({ ...good, card_number: Number(CARD) })],
    [JSON.stringify({ ...good, one_time_token: good.one_time_token?.slice(1) })],
    [whole.slice(0, -1)],
    [`${whole}${long}`],
    [`{"__proto__":${long}}`],
    [`[${long}]`],
    [whole.replace('A Payer', '\u0000')],
    [whole + ' '.repeat(70_000)],
    [`${form}&cvc=`, 'Content-Type: application/x-www-form-urlencoded; charset=\xff'],
    [`${form}&expiry_date=13/99`, 'Content-Type: application/x-www-form-urlencoded'],
    [whole, 'Content-Type: text/plain'],
    [whole, JSON_TYPE, 'Content-Encoding: gzip'],
  ]
  for (const [body, ...head] of attempts) {
    const lines = [`Content-Length: ${Buffer.byteLength(body)}`, `Authorization: Bearer ${key}`]
    const request = ['POST /v1/auth HTTP/1.1', ...lines, ...(head.length > 0 ? head : [JSON_TYPE])]
    const { status, text } = await sendRaw(baseUrl, request, body)
    assert.ok(status >= 400 && status < 500, `${status} ${text}`)
  }
}

/** Good and bad requests to the hosted pages. */
async function visit(baseUrl: string, token: string): Promise<void> {
  const browser = createClient([baseUrl], undefined)
  const other = `${token.slice(0, 30)}${'0'.repeat(22)}`
  for (const path of [`/secure/${token}`, `/secure/${token}/confirm`, `/secure/${other}`])
    for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS'])
      await browser.request(method, `${path}?again=${token}`)
  await browser.postForm('/secure', { chargeTokenId: token })
  await browser.postForm('/secure', Array(2).fill(['chargeTokenId', token]))
  await browser.postForm(`/secure/${token}`, { scenario: 'success', card_number: CARD, cvc: CVC })
  await browser.request('POST', `/secure/${token}`, { body: JSON.stringify({ token }) })
  const { status } = await browser.postForm(`/secure/${token}/confirm`, { cvc: CVC })
  assert.equal(status, 303)
}

/** Invalid bodies with secrets in them. */
async function refuse(baseUrl: string, key: string, token: string): Promise<void> {
  const api = createClient([baseUrl], key)
  const secret = `<${CARD} ${key} ${token}>`
  const paths = ['/v1/payments', '/v1/agreements', '/v1/webhooks', `/v1/payments/${token}/refunds`]
  const bodies = [{ reference: secret }, { amount: secret }, { callback_url: secret }, [secret]]
  for (const path of paths)
    for (const body of bodies) {
      const { status, text } = await api.post(path, body, { 'Idempotency-Key': secret })
      assert.ok(status >= 400 && status < 500, `${status} ${text}`)
    }
}

/** Secrets in the wrong places, and malformed requests. */
async function misuse(baseUrl: string, keys: string[], token: string): Promise<void> {
  for (const key of keys) {
    const auth = `Authorization: Bearer ${key}`
    const cookie = `Cookie: key=${key}; card=${CARD}`
    for (const head of [
      [`GET /v1/payments?api_key=${key}&card=${CARD} HTTP/1.1`, auth],
      [`GET /v1/payments/${CARD} HTTP/1.1`, auth],
      [`GET /v1/nothing/${key} HTTP/1.1`, auth],
      [`GET /${key}/${token}%ff HTTP/1.1`, `Authorization: Basic ${key}`],
      [`DELETE /v1/webhooks/${key} HTTP/1.1`, auth],
      ['POST /v1/payments HTTP/1.1', `Idempotency-Key: ${CARD} ${key}`, auth],
      ['POST /secure HTTP/1.1', `Referer: http://x/secure/${token}`, cookie],
      [`PROPFIND /secure/${token} HTTP/1.1`, `Authorization: ${key}`],
    ])
      await sendRaw(baseUrl, head)
    for (const text of [
      `GET /secure/${token} HTTP/1.1\r\n${auth}\r\nno colon ${CARD}\r\n\r\n`,
      `GET /secure/${token} HTTP/9.9\r\n${auth}\r\n\r\n`,
      `POST /v1/auth?${token} HTTP/1.1\r\nHost: a\r\n${auth}\r\nContent-Length: x${CARD}\r\n\r\n`,
      `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n${auth}\r\nX: ${CARD}\r\n\r\n`,
      `POST /v1/auth HTTP/1.1\r\nHost: a\r\n${auth}\r\nTransfer-Encoding: chunked\r\n\r\n${token} ${CARD}\r\n`,
    ])
      await exchangeBytes(baseUrl, [text])
  }
}

/** The canaries found, with the text around them. */
export function findCanaries(texts: string[], canaries: Record<string, string[]>): string[] {
  const all = texts.map(unpacked).join('\n')
  const wanted = Object.entries(canaries).flatMap(([kind, secrets]) =>
    secrets.map(secret => ({ kind, secret })),
  )
  return wanted.flatMap(({ kind, secret }) => {
    const at = kind === 'cvcs' ? all.search(alone(secret)) : all.indexOf(secret)
    return at < 0 ? [] : [`${kind}: ${all.slice(Math.max(0, at - 60), at + 60)}`]
  })
}

/** Not in a longer number, an identifier or a time, and no JSON number: a log has the number of its process. */
const alone = (digits: string): RegExp => new RegExp(`(?<![\\w.:-])${digits}(?![\\w.-])`)

/** Replaces arrays of bytes by their text. */
const unpacked = (text: string): string =>
  text.replace(/\[(\d{1,3},)+\d{1,3}\]/g, bytes =>
    Buffer.from(JSON.parse(bytes)).toString('latin1'),
  )
