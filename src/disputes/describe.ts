/** What /openapi.json says of the endpoint of disputes. */
import { noSuchPage } from '../errors.ts'
import { exampleAddresses } from '../http/addresses.ts'
import { behindKey, type Operations, pageAnswer, queryParameters } from '../http/describe.ts'
import { wrongFilters } from '../http/page.ts'
import { disputes } from './dispute.ts'
import { present } from './present.ts'
import { disputeSearch } from './routes.ts'
import { dispute } from './schema.ts'

const [lost] = disputes
  .filter(({ status }) => status === 'lost')
  .map(one => present(one, exampleAddresses))

const searchDisputes = behindKey({
  tags: ['Disputes'],
  summary: 'Search disputes',
  description:
    'Four fixed sample records, the same for everybody. Their payments do not exist here.',
  parameters: queryParameters(disputeSearch),
  answers: { 200: pageAnswer(disputeSearch, dispute, lost, disputes.length) },
  errors: [noSuchPage('P0402', 7, 3), wrongFilters(disputeSearch, ['status'])],
})

export const operations: Operations = { searchDisputes }
