/** Many equal requests at once, whose clients may leave. */
import http from 'node:http'

export type Storm = {
  url: string
  method?: string
  headers: Record<string, string>
  body?: string
  /** How many requests. */
  count: number
  /** Milliseconds after which a client closes its connection. */
  leaveAfter?: number
  /** On how many connections, which are kept. Otherwise each request has its own. */
  connections?: number
}

/** How often each status came, or the code of an error, or `left`. */
export type Outcomes = Record<string, number>

/** Sends the requests, reads each response to its end, and keeps nothing of it. */
export async function storm(load: Storm): Promise<Outcomes> {
  const { connections = Infinity } = load
  const agent = new http.Agent({ keepAlive: 'connections' in load, maxSockets: connections })
  const outcomes: Outcomes = {}
  await Promise.all(
    Array.from({ length: load.count }, async () => {
      const outcome = await once(load, agent)
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }),
  )
  agent.destroy()
  return outcomes
}

const once = (
  { url, method = 'GET', headers, body, leaveAfter }: Storm,
  agent: http.Agent,
): Promise<string> =>
  new Promise(resolve => {
    const request = http.request(url, { method, agent, headers }, response => {
      response.on('error', () => {})
      response.resume().on('close', () => {
        clearTimeout(timer)
        resolve(response.complete ? String(response.statusCode) : 'cut')
      })
    })
    const leave = () => {
      resolve('left')
      request.destroy()
    }
    const timer = leaveAfter === undefined ? undefined : setTimeout(leave, leaveAfter)
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    request.end(body)
  })
