import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { onEveryDatabase } from '../support/service.ts'
import { attack, sendNowhere, stillWorks } from './hostile.ts'
import { attackBytes } from './hostile-bytes.ts'

const seed = Number(process.env.FARTHING_TEST_SEED ?? randomInt(2 ** 31))

/** With the damaged ones, more than 20,000 in all. */
const requests = { sqlite: 15_000, postgres: 4_000 }

onEveryDatabase(
  `Hostile requests (FARTHING_TEST_SEED=${seed})`,
  service => {
    test('are answered with errors of the right shape, and change nothing that they may not', () =>
      attack(service(), { seed, requests: requests[service().kind] }))

    test('that are damaged on their way get an answer or an end, and never a fault', async () => {
      const { key = '' } = await service().newAccount()
      await attackBytes(service(), { seed, requests: 700, key })
      await stillWorks(await service().newAccount())
    })
  },
  { send: sendNowhere },
)
