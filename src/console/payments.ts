import type { Context } from '../context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { html } from '../web/html.ts'
import { pageEndpoint } from './page.ts'

/** The list of payments. */
export const paymentsEndpoints = (context: Context): Endpoint[] => [
  pageEndpoint(
    context,
    { path: 'payments', operationId: 'showPayments', summary: 'Show payments' },
    async () => ({
      title: 'Payments',
      section: 'payments',
      content: html`<h1 class="govuk-heading-l">Payments</h1>`,
    }),
  ),
]
