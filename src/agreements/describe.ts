import { endpoint, json, noContent } from '../http/describe.ts'
import { pageOf } from '../http/schema.ts'
import { agreement, newAgreement } from './schema.ts'

const tag = 'Agreements'

export const create = endpoint(tag, 'Create an agreement', {
  body: newAgreement,
  response: { 201: json('The agreement', agreement) },
  errors: {
    400: 'A field is missing or invalid: P2101, P2102, P2197',
    415: 'The body is not JSON: P0920',
    422: 'A value is too long or empty: P0102',
  },
})

export const read = endpoint(tag, 'Read an agreement', {
  response: { 200: json('The agreement', agreement) },
  errors: { 404: 'No such agreement: P2200' },
})

export const search = endpoint(tag, 'Search agreements', {
  response: { 200: json('One page, newest first', pageOf(agreement)) },
  errors: { 404: 'Past the last page: P2402', 422: 'A parameter is not valid: P2401' },
})

export const cancel = endpoint(tag, 'Cancel an agreement', {
  response: { 204: noContent },
  errors: { 400: 'It is already cancelled: P2501', 404: 'No such agreement: P2500' },
})
