import assert from 'node:assert/strict'
import type { Answer, Body, Client, Fields } from './client.ts'
import { payOnPages } from './journeys.ts'

export async function createAgreement(api: Client, fields: Fields = {}): Promise<Body> {
  const answer = await api.post('/v1/agreements', {
    reference: 'PLAN-8',
    description: 'Monthly plan',
    ...fields,
  })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

export const setUpPayment = (api: Client, { agreement_id }: Body, fields: Fields = {}) =>
  api.createPayment({ set_up_agreement: agreement_id, ...fields })

/** Creates an agreement, and makes it active with a payment on the hosted pages. */
export async function activeAgreement(api: Client, setUpFields: Fields = {}): Promise<Body> {
  const agreement = await createAgreement(api)
  await payOnPages(api, await setUpPayment(api, agreement, setUpFields))
  return readAgreement(api, agreement)
}

export async function readAgreement(api: Client, { agreement_id }: Body): Promise<Body> {
  const { status, body, text } = await api.get(`/v1/agreements/${agreement_id}`)
  assert.equal(status, 200, text)
  return body
}

export const cancelAgreement = (api: Client, { agreement_id }: Body): Promise<Answer> =>
  api.post(`/v1/agreements/${agreement_id}/cancel`)

/** Posts a payment in agreement mode, which may be refused. */
export const payByAgreement = (
  api: Client,
  { agreement_id }: Body,
  fields: Fields = {},
  headers: Record<string, string> = {},
): Promise<Answer> =>
  api.post(
    '/v1/payments',
    {
      amount: 2500,
      reference: 'PLAN-8/OCT',
      description: 'Monthly plan',
      authorisation_mode: 'agreement',
      agreement_id,
      ...fields,
    },
    headers,
  )
