import { test } from 'node:test'
import { seed } from '../support/properties.ts'
import { onEveryDatabase, onOneDatabase } from '../support/service.ts'
import { attack, sendNowhere, stillWorks } from './hostile.ts'
import { attackBytes } from './hostile-bytes.ts'

onEveryDatabase('Under hostile requests', { send: sendNowhere }, service => {
  test('every response follows the rules of errors and the invariants hold', () =>
    attack(service(), { seed, requests: 260 }))
})

// Once is enough: most of these requests end in the parser, and the others are written as any request is.
onOneDatabase('Under damaged requests', service => {
  test('damaged bytes cause no 5xx and leave no connection open', async () => {
    const { key = '' } = await service().newAccount()
    await attackBytes(service(), { seed, requests: 200, key })
    await stillWorks(await service().newAccount())
  })
})
