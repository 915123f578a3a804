import type { Case } from '../../contract/differences.test.ts'
import { payOnPages } from '../journeys.ts'

export const pages = {
  endedPage: {
    async seen(api) {
      const [paid, capturable, cancelled] = await Promise.all(
        [false, true, false].map(delayed_capture => api.createPayment({ delayed_capture })),
      )
      for (const each of [paid, capturable]) await payOnPages(api, each)
      await api.post(`/v1/payments/${cancelled.payment_id}/cancel`)
      const answers = [paid, capturable, cancelled].map(async ({ _links, return_url }) => {
        const { status, headers, text } = await api.get(_links.next_url.href)
        return [status, headers.get('location') === return_url, text.includes(return_url)]
      })
      return Promise.all(answers)
    },
    specification: Array(3).fill([303, true, false]),
    'govuk-pay': Array(3).fill([200, false, true]),
  },
} satisfies Record<string, Case>
