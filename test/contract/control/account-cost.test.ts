import { test } from 'node:test'
import { deleteEndedRooms, endExpiredAccounts } from '../../../src/app/ended-rooms-store.ts'
import { DAY } from '../../../src/core/time.ts'
import { signIn } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { watchedService } from '../../support/watched.ts'

/** Steps of a plan that read the accounts which they look for, and no others. */
const BY_INDEX = /\(name=\?|accounts_(living|ended) \(parent=\?|accounts_by_expiry \(expires/

test('creating, listing, ending and sweeping test accounts does not read all ended ones', async t => {
  const { service, api, database, assertPlans } = await watchedService(t)
  const { body } = await ask(service, api, 'accounts', {})
  await ask(service, api, 'accounts')
  await ask(service, api, `accounts/${body.account}`, undefined, 'DELETE')
  await (await signIn(service, api)).get('accounts')
  const later = Date.now() + 8 * DAY
  await endExpiredAccounts(database, later)
  await deleteEndedRooms(database, later)
  await assertPlans(/ accounts\b/, BY_INDEX, 10)
})
