/** The endpoint of disputes in /openapi.json. */
import { exampleAddresses } from '../http/addresses.ts'
import { behindKey, type Operations, searchParts } from '../http/describe.ts'
import { disputes } from './dispute.ts'
import { disputeSearch } from './routes.ts'
import { dispute, present } from './wire.ts'

const [lost] = disputes
  .filter(({ status }) => status === 'lost')
  .map(one => present(one, exampleAddresses))

const searchDisputes = behindKey({
  summary: 'Search disputes',
  description:
    'Four fixed sample records, the same for everybody. Their payments do not exist here.',
  ...searchParts(disputeSearch, dispute, lost, ['status'], disputes.length),
})

export const operations: Operations = { searchDisputes }
