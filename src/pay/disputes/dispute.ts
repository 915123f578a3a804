/** Specification, *Other resources*: four fixed sample records, newest first. Amounts are in pence. */
export const disputeStatuses = ['needs_response', 'under_review', 'lost', 'won'] as const

export type Dispute = {
  dispute_id: string
  payment_id: string
  amount: number
  fee?: number
  net_amount?: number
  status: (typeof disputeStatuses)[number]
  reason: string
  created_date: string
  evidence_due_date: string
  settled_date?: string
}

export const disputes: readonly Dispute[] = [
  {
    dispute_id: '06g29a1qo2naf3av5jnd3p8dkd',
    payment_id: '06fsevlu01p1fqg9rl81jfsr2s',
    amount: 3150,
    status: 'needs_response',
    reason: 'product_unacceptable',
    created_date: '2026-08-21T14:10:00.000Z',
    evidence_due_date: '2026-09-04T23:59:59.000Z',
  },
  {
    dispute_id: '06ftcthpc0859gdp31g4421ngn',
    payment_id: '06fnkfqq00c5mdq3b9enltsorc',
    amount: 900,
    status: 'under_review',
    reason: 'unrecognised',
    created_date: '2026-08-06T09:45:00.000Z',
    evidence_due_date: '2026-08-20T23:59:59.000Z',
  },
  {
    dispute_id: '06fn1o5bg14lrr0hjefd08vrfo',
    payment_id: '06fgs6ee02rtvvcsg5vlianjbc',
    amount: 12500,
    status: 'won',
    reason: 'fraudulent',
    created_date: '2026-07-17T16:20:00.000Z',
    evidence_due_date: '2026-07-31T23:59:59.000Z',
  },
  {
    dispute_id: '06fi4o6o80irm8n5te51pep3s1',
    payment_id: '06fbnd0e01n3fb986tbomqrp0a',
    amount: 2400,
    fee: 1500,
    net_amount: -3900,
    status: 'lost',
    reason: 'duplicate',
    created_date: '2026-07-02T10:30:00.000Z',
    evidence_due_date: '2026-07-16T23:59:59.000Z',
    settled_date: '2026-07-24',
  },
]
