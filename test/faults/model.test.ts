import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { explore } from './model-explore.ts'

const seed = Number(process.env.FARTHING_TEST_SEED ?? randomInt(2 ** 31))

test(`14,000 commands have the answers of the model on SQLite (FARTHING_TEST_SEED=${seed})`, async () => {
  await explore({ seed, commands: 14_000, postgres: false })
})

test(`6,000 commands have the same answers on SQLite and PostgreSQL (FARTHING_TEST_SEED=${seed})`, async () => {
  await explore({ seed: seed + 1_000_000, commands: 6_000, postgres: true })
})
