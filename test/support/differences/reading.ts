import type { Case } from '../../contract/differences.test.ts'

export const reading = {
  linksOfFoundPayments: {
    async seen(api) {
      await api.createPayment()
      const { cancel, capture } = (await api.get('/v1/payments')).body.results[0]._links
      return [typeof cancel, capture]
    },
    specification: ['object', undefined],
    'govuk-pay': ['object', null],
  },
} satisfies Record<string, Case>
