/** Reads hosted pages from their HTML and submits their forms. */
import assert from 'node:assert/strict'
import { elementsOf, type Found, only, tagged, withId } from '../hosted/document.ts'
import type { Answer, Body, Client } from './client.ts'

export const headings = {
  details: 'Enter payment details',
  confirm: 'Confirm your payment',
  cancelled: 'Your payment has been cancelled',
  declined: 'Your payment has been declined',
  technical: 'Sorry, we are having technical problems',
}

export const pageOf = (payment: Body): string => payment._links.next_url.href
export const confirmOf = (payment: Body): string => `${pageOf(payment)}/confirm`

/** The h1 of a response, which must be a page. */
function headingOf(answer: Answer): string {
  assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
  return only(elementsOf(answer.text), tagged('h1')).text
}

/** The status and h1 of a page, or the status and Location of a redirect, which has no body. */
export function met(answer: Answer): [status: number, where: string | null] {
  if (answer.status !== 303) return [answer.status, headingOf(answer)]
  assert.equal(answer.text, '')
  return [303, answer.headers.get('location')]
}

type Field = [name: string, value: string]

/** The form that the button with this id submits, with its hidden fields and the field of the button. */
export function formOf({ text }: Answer, buttonId: string) {
  const elements = elementsOf(text)
  const button = only(elements, withId(buttonId))
  const owner = button.attributes.form
  const isItsForm = ({ attributes, inside }: Found) =>
    owner === undefined ? inside.some(withId(buttonId)) : attributes.id === owner
  const form = only(elements.filter(tagged('form')), isItsForm)
  const hidden = form.inside.filter(({ attributes }) => attributes.type === 'hidden')
  const named = 'name' in button.attributes ? [...hidden, button] : hidden
  const fields = named.map(({ attributes: { name = '', value = '' } }): Field => [name, value])
  return { action: form.attributes.action ?? '', fields }
}

/** Submits the form of a button, with `choice` among its fields, as a browser without scripts does. */
export function press(client: Client, answer: Answer, buttonId: string, choice: Field[] = []) {
  const { action, fields } = formOf(answer, buttonId)
  return client.postForm(action, [...fields, ...choice])
}
