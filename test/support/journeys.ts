/** Gives a payment its card, through POST /v1/auth or the hosted pages. */
import assert from 'node:assert/strict'
import type { Answer, Body, Client, Fields } from './client.ts'

export const card = {
  card_number: '4242424242424242',
  cardholder_name: 'A Caller',
  cvc: '123',
  expiry_date: '04/31',
}

export const DECLINED = '4000000000000002'

/** Posts a card with the one-time token of a moto_api payment. */
export function authorise(api: Client, payment: Body, fields: Fields = {}): Promise<Answer> {
  const { href, params } = payment._links.auth_url_post
  return api.post(href, { ...params, ...card, ...fields })
}

export function choose(api: Client, payment: Body, scenario: string): Promise<Answer> {
  return api.postForm(payment._links.next_url.href, { scenario })
}

/** Chooses success and confirms. Returns the payment, which is then success or capturable. */
export async function payOnPages(api: Client, payment: Body): Promise<Body> {
  await choose(api, payment, 'success')
  const confirmed = await api.postForm(`${payment._links.next_url.href}/confirm`, {})
  assert.equal(confirmed.status, 303, confirmed.text)
  return read(api, payment)
}

export async function paidPayment(api: Client, fields: Fields = {}): Promise<Body> {
  return payOnPages(api, await api.createPayment(fields))
}

/** Makes a payment and cancels it, which causes one message. */
export async function cancelledPayment(api: Client, fields: Fields = {}): Promise<Body> {
  const payment = await api.createPayment(fields)
  const { status, text } = await api.post(`/v1/payments/${payment.payment_id}/cancel`)
  assert.equal(status, 204, text)
  return payment
}

export async function read(api: Client, { payment_id }: Body): Promise<Body> {
  const { status, body, text } = await api.get(`/v1/payments/${payment_id}`)
  assert.equal(status, 200, text)
  return body
}

/** The statuses that a payment went through, oldest first. */
export async function statusesOf(api: Client, { payment_id }: Body): Promise<string[]> {
  const { body } = await api.get(`/v1/payments/${payment_id}/events`)
  return body.events.map((event: Body) => event.state.status)
}

type Service = { newAccount(): Promise<Client> }

/** A payment of an account of its own. */
export async function newPayment(service: Service, fields: Fields = {}) {
  const api = await service.newAccount()
  return { api, payment: await api.createPayment(fields) }
}

export async function newPaidPayment(service: Service, fields: Fields = {}) {
  const api = await service.newAccount()
  return { api, payment: await paidPayment(api, fields) }
}
