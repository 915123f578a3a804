/// <reference types="cypress" />
// Start Farthing with FARTHING_BEHAVIOUR=govuk-pay and FARTHING_CONTROL=true, and Cypress with these two variables: cypress run --env FARTHING_URL=...,FARTHING_API_KEY=...
const control = (method: string, path: string, body?: object) =>
  cy.request({
    method,
    url: `${Cypress.env('FARTHING_URL')}/control/${path}`,
    auth: { bearer: Cypress.env('FARTHING_API_KEY') },
    ...(body && { body }),
  })

it('pays without leaving the application', () => {
  cy.visit('/')
  cy.contains('button', 'Pay').click()
  control('GET', 'payments?reference=ORDER-1&wait=5000').then(({ body }) => {
    const [payment] = body.results
    control('POST', `payments/${payment.payment_id}/complete`, { scenario: 'success' })
    cy.visit(payment.return_url)
  })
  cy.contains('Thank you')
})
