/** Concurrent requests to one agreement. */
import assert from 'node:assert/strict'
import { createRecorder, type Machine, type Operation } from './linearizability.ts'
import type { Ask } from './race.ts'

type Doing = 'cancel' | 'use' | 'read' | { confirm: number }

/** `unpaid`: payments that will set it up. */
type State = { status: string; unpaid: number[] }

const machine: Machine<State, Doing> = {
  initial: { status: 'created', unpaid: [0, 1, 2] },
  apply(state, doing) {
    if (doing === 'read') return { state, output: state.status }
    if (doing === 'use') return { state, output: state.status === 'active' ? '201' : '400' }
    if (doing === 'cancel')
      return state.status === 'cancelled'
        ? { state, output: '400' }
        : { state: { ...state, status: 'cancelled' }, output: '204' }
    const unpaid = state.unpaid.filter(nth => nth !== doing.confirm)
    const isFirst = unpaid.length < state.unpaid.length
    const activates = isFirst && state.status !== 'cancelled'
    return { state: { status: activates ? 'active' : state.status, unpaid }, output: '303' }
  },
}

export type AgreementRace = { history: Operation<Doing>[]; machine: typeof machine }

/** Three payments set up one agreement while it is used and cancelled. */
export async function raceAgreement(ask: Ask, random: () => number): Promise<AgreementRace> {
  const made = await ask({
    method: 'POST',
    path: '/v1/agreements',
    json: { reference: 'RACE-1', description: 'A race' },
  })
  const { agreement_id } = made.body
  const pages = await Promise.all(machine.initial.unpaid.map(() => choose(ask, agreement_id)))
  const path = `/v1/agreements/${agreement_id}`
  const { history, record } = createRecorder<Doing>()
  const payment = { amount: 5, reference: 'R', description: 'D', authorisation_mode: 'agreement' }

  async function perform(doing: Doing): Promise<string> {
    if (doing === 'read') return (await ask({ method: 'GET', path })).body.status
    if (doing === 'cancel')
      return `${(await ask({ method: 'POST', path: `${path}/cancel` })).status}`
    if (doing === 'use') {
      const json = { ...payment, agreement_id }
      return `${(await ask({ method: 'POST', path: '/v1/payments', json })).status}`
    }
    const confirm = `${pages[doing.confirm]}/confirm`
    return `${(await ask({ method: 'POST', path: confirm, form: {} })).status}`
  }

  const choices: (() => Doing)[] = [
    () => 'cancel',
    () => 'use',
    () => 'use',
    () => 'read',
    () => ({ confirm: Math.floor(random() * pages.length) }),
    () => ({ confirm: Math.floor(random() * pages.length) }),
  ]
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      for (let nth = 0; nth < 3; nth++) {
        const doing = choices[Math.floor(random() * choices.length)]?.() ?? 'read'
        await record(doing, () => perform(doing))
      }
    }),
  )
  await record('read', () => perform('read'))
  return { history, machine }
}

/** Creates a payment that sets up the agreement, up to the last page. Returns the path of its pages. */
async function choose(ask: Ask, set_up_agreement: string): Promise<string> {
  const { body } = await ask({
    method: 'POST',
    path: '/v1/payments',
    json: {
      amount: 5,
      reference: 'RACE-1',
      description: 'A race',
      return_url: 'https://shops.example.org/',
      set_up_agreement,
    },
  })
  const page = new URL(body._links.next_url.href).pathname
  const chosen = await ask({ method: 'POST', path: page, form: { scenario: 'success' } })
  assert.equal(chosen.status, 303)
  return page
}
