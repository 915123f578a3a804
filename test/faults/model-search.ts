/** All searches: SPEC *Search result page*. */
import { type Account, answer, link, refusal, type Step } from './model.ts'

/** As they stand in the address; undefined when not given. */
export type PageQuery = { page?: string | undefined; display_size?: string | undefined }

export type Search = {
  path: string
  codes: [invalid: string, pastEnd: string]
  account: Account
  query: PageQuery
  /** In the order in which links name them; undefined when not given. */
  filters?: [name: string, text: string | undefined][]
  /** One of the filters has a value that it cannot have. */
  wrong?: boolean
  /** All that match, oldest first. */
  found: object[]
}

/** As it stands in an address; the model's names stay names. */
const encoded = (text: string | number = ''): string =>
  /^\{[a-z]+-\d+\}$/.test(String(text)) ? String(text) : encodeURIComponent(text)

const isNumber = (text: string, most: number): boolean =>
  /^[0-9]+$/.test(text) && Number(text) >= 1 && Number(text) <= most

/** One page of what was found, newest first, with the links to the others. */
export function searchPage(search: Search): Step {
  const { path, account, query, filters = [], found } = search
  const givenFilters = filters.filter(([, text]) => text !== undefined && text.trim() !== '')
  const asked = [...filters, ['page', query.page], ['display_size', query.display_size]]
  const parameters = asked
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `${name}=${encoded(text)}`)
  const request = {
    method: 'GET',
    path: parameters.length > 0 ? `${path}?${parameters.join('&')}` : path,
    account,
  } as const
  const [invalid, pastEnd] = search.codes
  const page = query.page?.trim() || '1'
  const size = query.display_size?.trim() || '500'
  if (search.wrong || !isNumber(page, 2_147_483_647) || !isNumber(size, 500))
    return { request, expected: refusal(422, invalid) }
  const number = Number(page)
  const display = Number(size)
  const last = Math.max(1, Math.ceil(found.length / display))
  if (found.length > 0 && number > last) return { request, expected: refusal(404, pastEnd) }
  const to = (target: number) =>
    link(
      `${path}?${[...givenFilters, ['page', target], ['display_size', display]]
        .map(([name, text]) => `${name}=${encoded(text)}`)
        .join('&')}`,
    )
  const results = found.toReversed().slice((number - 1) * display, number * display)
  return {
    request,
    expected: answer(200, {
      total: found.length,
      count: results.length,
      page: number,
      results,
      _links: {
        self: to(number),
        first_page: to(1),
        last_page: to(last),
        prev_page: number > 1 ? to(Math.min(number - 1, last)) : undefined,
        next_page: number < last ? to(number + 1) : undefined,
      },
    }),
  }
}

/** The four sample records of every account, oldest first: their payments do not exist. */
const disputes = (
  [
    ['06fi4o6o80irm8n5te51pep3s1', '06fbnd0e01n3fb986tbomqrp0a', 2400, 'lost', 'duplicate'],
    ['06fn1o5bg14lrr0hjefd08vrfo', '06fgs6ee02rtvvcsg5vlianjbc', 12500, 'won', 'fraudulent'],
    [
      '06ftcthpc0859gdp31g4421ngn',
      '06fnkfqq00c5mdq3b9enltsorc',
      900,
      'under_review',
      'unrecognised',
    ],
    [
      '06g29a1qo2naf3av5jnd3p8dkd',
      '06fsevlu01p1fqg9rl81jfsr2s',
      3150,
      'needs_response',
      'product_unacceptable',
    ],
  ] as const
).map(([dispute_id, payment_id, amount, status, reason], i) => ({
  dispute_id,
  payment_id,
  amount,
  ...(status === 'lost' && { fee: 1500, net_amount: -3900 }),
  status,
  reason,
  created_date: ['2026-07-02T10:30', '2026-07-17T16:20', '2026-08-06T09:45', '2026-08-21T14:10'][i],
  evidence_due_date: ['2026-07-16', '2026-07-31', '2026-08-20', '2026-09-04'][i],
  ...(status === 'lost' && { settlement_summary: { settled_date: '2026-07-24' } }),
  _links: { payment: link(`/v1/payments/${payment_id}`) },
}))

/** GET /v1/disputes. */
export function searchDisputes(
  account: Account,
  status: string | undefined,
  query: PageQuery,
): Step {
  const isGiven = Boolean(status?.trim())
  return searchPage({
    path: '/v1/disputes',
    codes: ['P0401', 'P0402'],
    account,
    query,
    filters: [['status', status]],
    wrong: isGiven && !disputes.some(dispute => dispute.status === status),
    found: disputes
      .filter(dispute => !isGiven || dispute.status === status)
      .map(dispute => ({
        ...dispute,
        created_date: `${dispute.created_date}:00.000Z`,
        evidence_due_date: `${dispute.evidence_due_date}T23:59:59.000Z`,
      })),
  })
}
