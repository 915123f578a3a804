/** Races: the responses to concurrent requests must be those of the model to the same requests in some order. */
import assert from 'node:assert/strict'
import type { Database } from '../../src/core/ports.ts'
import type { Body } from '../support/client.ts'
import { type DatabaseKind, START } from '../support/service.ts'
import { checkInvariants } from './invariants.ts'
import { isLinearizable, type Operation } from './linearizability.ts'
import { newWorld, type Step, type World } from './model.ts'
import { agree, cancelAgreement, readAgreement } from './model-agreements.ts'
import { create, steps as moves, visit } from './model-moves.ts'
import { read } from './model-payments.ts'
import { rawRequest, type Subject, take, toNames } from './model-run.ts'
import { startModelService } from './model-service.ts'
import { seeded } from './process/workload.ts'

export type Races = {
  seed: number
  rounds: number
  kind: DatabaseKind
  /** A layer between the service and the database, for a control. */
  wrap?: (database: Database) => Database
}

const setUp = { mode: 'web', amount: 100, delayed: false } as const
const steps = {
  ...moves,
  read: world => read(world, 0, world.payments[0]),
  'confirm the second': world => visit(world, world.payments[1], 'confirm'),
  'confirm the third': world => visit(world, world.payments[2], 'confirm'),
  'cancel the agreement': world => cancelAgreement(world, 0, world.agreements[0]),
  'read the agreement': world => readAgreement(0, world.agreements[0]),
  'use the agreement': world =>
    create(world, 0, { ...setUp, mode: 'agreement', agreement: world.agreements[0] }),
  'create with a key': world => create(world, 0, { ...setUp, idempotencyKey: world.name }),
} satisfies Record<string, (world: World) => Step>

type Name = keyof typeof steps

/** The requests before the race, the choices of the clients (repeated ones more often), and the last request. */
type Race = { begin: ((world: World) => Step)[]; choices: Name[]; last: Name }

const newPayment = (mode: 'web' | 'moto_api', delayed: boolean) => (world: World) =>
  create(world, 0, { ...setUp, mode, delayed })
const afterwards = ['cancel', 'capture', 'capture', 'read', 'read', 'read', 'refund 60'] as const

const onPages = (delayed: boolean): Race => ({
  begin: [newPayment('web', delayed)],
  choices: [
    ...(['open', 'success', 'success', 'confirm', 'confirm', 'confirm'] as const),
    ...(['declined', 'error', 'leave', 'refund 30', ...afterwards] as const),
  ],
  last: 'read',
})

const withCard = (delayed: boolean): Race => ({
  begin: [newPayment('moto_api', delayed)],
  choices: [
    ...(['authorise', 'authorise', 'authorise', 'authorise declined'] as const),
    ...(['refund 60', 'refund 30', ...afterwards] as const),
  ],
  last: 'read',
})

/** Three payments set up one agreement while it is used and cancelled. */
const ofAgreement: Race = {
  begin: [
    world => agree(world, 0),
    ...[0, 1, 2].flatMap(nth => [
      (world: World) => create(world, 0, { ...setUp, agreement: world.agreements[0] }),
      (world: World) => visit(world, world.payments[nth], 'success'),
    ]),
  ],
  choices: [
    ...(['confirm', 'confirm the second', 'confirm the third', 'read the agreement'] as const),
    ...(['cancel the agreement', 'use the agreement', 'use the agreement'] as const),
  ],
  last: 'read the agreement',
}

const ofKey: Race = { begin: [], choices: ['create with a key'], last: 'create with a key' }

const CLIENTS = 5
/** Requests of each client. */
const EACH = 3
/** Races that run side by side, so that they also compete for the database. */
const ABREAST = 3

/** Throws with the history of the first race whose responses fit no serial order. */
export async function runRaces({ seed, rounds, kind, wrap = it => it }: Races): Promise<void> {
  const random = seeded(seed)
  let now = START
  const clock = () => now
  const service = await startModelService(kind, clock, real => wrap(shuffled(real, random)))
  try {
    const keys = await service.begin(['races'])
    const json = { callback_url: 'https://hooks.example.org/all' }
    const hook = { method: 'POST', path: '/v1/webhooks', account: 0, json } as const
    await service.request(rawRequest({ keys, realOf: new Map() }, hook))
    now += 1
    const nths = Array.from({ length: rounds }).keys()
    await Promise.all(
      Array.from({ length: ABREAST }, async (_, lane) => {
        for (const nth of nths) {
          const onePayment = random() < 0.7 ? onPages : withCard
          for (const race of [onePayment(random() < 0.5), ofAgreement, ofKey]) {
            const subject = { service, keys, nameOf: new Map(), realOf: new Map() }
            await run(subject, newWorld(`race-${lane}-${nth}`, now), race, random)
          }
        }
      }),
    )
    await checkInvariants(service.database(), { now, settled: true })
  } finally {
    await service.stop()
  }
}

async function run(subject: Subject, world: World, race: Race, random: () => number) {
  for (const step of race.begin) await take(world, [subject], step(world))
  const history: Operation<Name>[] = []
  let places = 0
  const send = async (input: Name) => {
    const open = { input, output: undefined, ended: Infinity }
    const operation: Operation<Name> = { ...open, began: ++places }
    history.push(operation)
    const { request } = steps[input](structuredClone(world))
    const { status, headers, text } = await subject.service.request(rawRequest(subject, request))
    const isJson = String(headers['content-type']).startsWith('application/json')
    const location = status === 303 ? toNames(subject, String(headers.location)) : undefined
    operation.output = brief(status, isJson ? JSON.parse(text) : undefined, location)
    operation.ended = ++places
  }
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let nth = 0; nth < EACH; nth++)
        await send(race.choices[Math.floor(random() * race.choices.length)] ?? race.last)
    }),
  )
  await send(race.last)
  const apply = (state: World, name: Name) => {
    const after = structuredClone(state)
    const { status, body, location } = steps[name](after).expected
    return { state: after, output: brief(status, body, location) }
  }
  const story = history.map(
    ({ input, output, began, ended }) => `${began}-${ended} "${input}": ${output}`,
  )
  assert.ok(isLinearizable(history, { initial: world, apply }), story.join('\n'))
}

/** The states in a response, without identifiers, which differ with the order. */
const brief = (status: number, body: Body, location: string | undefined): string =>
  JSON.stringify([
    status,
    location ?? body?.code,
    body?.state?.status ?? body?.status,
    body?.refund_summary?.amount_available,
    body?.settlement_summary?.capture_submit_time,
    body?.payment_instrument?.created_date,
  ])

const MOST_TURNS = 4

/** Delays the begin and the end of each call by some turns of the event loop, so that requests interleave. */
export function shuffled(database: Database, random: () => number): Database {
  async function pause(): Promise<void> {
    for (let turns = Math.floor(random() * MOST_TURNS); turns > 0; turns--)
      await new Promise(resolve => setImmediate(resolve))
  }
  async function late<Result>(call: () => Promise<Result>): Promise<Result> {
    await pause()
    const result = await call()
    await pause()
    return result
  }
  return {
    ...database,
    query: (sql, values) => late(() => database.query(sql, values)),
    write: statements => late(() => database.write(statements)),
  }
}
