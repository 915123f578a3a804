/** What /openapi.json says of itself, of the pages about the service, and of its health. */
import { alwaysOpen, html, json, type Operations, open } from '../http/describe.ts'

const description = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: {
    openapi: { type: 'string' },
    info: { type: 'object' },
    paths: { type: 'object' },
  },
  additionalProperties: true,
} as const

const readDescription = open({
  summary: 'Read this document',
  answers: {
    200: {
      description: 'The description of the API, in OpenAPI 3.1',
      content: { 'application/json': { schema: description } },
    },
  },
})

const readDocs = open({
  summary: 'Show this document as a page',
  answers: { 200: html('The page') },
})

const readFrontPage = open({
  summary: 'Show what this service is',
  answers: { 200: html('The page') },
})

const status = (value: string) => ({
  title: value === 'ok' ? 'Healthy' : 'Unavailable',
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', const: value } },
})

const healthy = json('It is', status('ok'), { Healthy: { status: 'ok' } })

const readHealth = alwaysOpen({
  summary: 'Is it alive?',
  description: 'Asks no database.',
  answers: { 200: healthy },
})

const check = {
  type: 'object',
  required: ['healthy'],
  properties: { healthy: { type: 'boolean', const: true } },
} as const

const readHealthcheck = open({
  summary: 'Is it alive, as GOV.UK Pay says it?',
  description: 'For clients that ask GOV.UK Pay before they send it a payment.',
  answers: {
    200: json(
      'It is',
      {
        title: 'Healthcheck',
        type: 'object',
        required: ['ping', 'deadlocks'],
        properties: { ping: check, deadlocks: check },
      },
      { Healthy: { ping: { healthy: true }, deadlocks: { healthy: true } } },
    ),
  },
})

const readReadiness = alwaysOpen({
  summary: 'Can it serve?',
  answers: {
    200: healthy,
    503: json(
      'The database cannot be reached or written to, or the service is stopping',
      status('unavailable'),
      {
        Unavailable: { status: 'unavailable' },
      },
    ),
  },
})

export const operations: Operations = {
  readDescription,
  readDocs,
  readFrontPage,
  readHealth,
  readReadiness,
  readHealthcheck,
}
