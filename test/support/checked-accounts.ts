/** Stands in front of a service, and asks for the check of each test account before it ends. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as sendRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { sendUnchecked } from './client.ts'
import { listen } from './ports.ts'

export async function checkAccountsOf(service: string) {
  const keys = new Map<string, string>()

  async function check(name: string): Promise<void> {
    const url = `${service}/control/check?as_of=%2B1d`
    const { body } = await sendUnchecked(url, { key: keys.get(name) })
    for (const { rule, level } of body.findings)
      if (level === 'fail' || level === 'warn') checked.broken.push(`${rule} ${level}`)
    checked.ended += 1
  }

  const server = createServer(async (request, response) => {
    const { method, url = '', headers } = request
    const [, accounts, name] = /^(\/control\/accounts)\/?([^/]*)$/.exec(url) ?? []
    if (method === 'DELETE' && name) await check(decodeURIComponent(name))
    const outgoing = sendRequest(service + url, { method, headers })
    try {
      outgoing.end(await text(request))
      const [answer]: IncomingMessage[] = await once(outgoing, 'response')
      if (!answer) return
      const body = await text(answer)
      if (method === 'POST' && accounts) {
        const { account, key } = JSON.parse(body)
        keys.set(account, key)
      }
      response.writeHead(answer.statusCode ?? 0, answer.headers).end(body)
    } catch {
      request.socket.resetAndDestroy() // a plan has reset the connection to the service
    }
  })
  const checked = {
    url: `http://127.0.0.1:${await listen(server)}`,
    ended: 0,
    /** The findings of the checks with the levels fail and warn. */
    broken: [] as string[],
    close: () => server.close(),
  }
  return checked
}
