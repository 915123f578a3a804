/** Many searches of large payments at once. */
import http from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '../../support/client.ts'
import { createLargePayments, searchBytes } from '../../support/large-payments.ts'
import { open } from '../../support/raw-http.ts'

export type Load = { searches: number; connections: number; baseUrl: string; key: string }
/** How often each status, or code of an error, came; a body that is not whole is `cut`. */
export type Outcomes = Record<string, number>

/** Makes 500 large payments, as many as a page has. */
export const fillPage = (baseUrl: string, key: string): Promise<void> =>
  createLargePayments(createClient([baseUrl], key), 500)

/** Sends the searches and reads each response to its end. */
export async function readSearches(load: Load): Promise<Outcomes> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: load.connections })
  const outcomes: Outcomes = {}
  const search = () => searchOnce(load, agent).then(outcome => note(outcomes, outcome))
  await Promise.all(Array.from({ length: load.searches }, search))
  agent.destroy()
  return outcomes
}

const note = (outcomes: Outcomes, outcome: string): void => {
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
}

const searchOnce = ({ baseUrl, key }: Load, agent: http.Agent): Promise<string> =>
  new Promise(resolve => {
    const headers = { Authorization: `Bearer ${key}` }
    http
      .get(`${baseUrl}/v1/payments`, { agent, headers }, response => {
        let missing = Number(response.headers['content-length'])
        response.on('data', (piece: Buffer) => {
          missing -= piece.length
        })
        response.on('close', () => resolve(missing === 0 ? String(response.statusCode) : 'cut'))
      })
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })

/** Sends the searches on connections of which nothing is read for `ms`. Returns the statuses of the first responses. */
export async function leaveUnread(load: Load, ms: number): Promise<Outcomes> {
  const { baseUrl, connections, searches, key } = load
  const outcomes: Outcomes = {}
  const bytes = searchBytes(createClient([baseUrl], key)).repeat(Math.ceil(searches / connections))
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(baseUrl)))
  for (const socket of sockets) socket.pause().write(bytes)
  await setTimeout(ms)
  for (const socket of sockets) {
    const begin: Buffer | null = socket.read()
    note(outcomes, begin?.toString('latin1', 9, 12) ?? 'nothing')
    socket.destroy()
  }
  return outcomes
}
