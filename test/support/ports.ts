import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'

/** Below the ports of outgoing connections, of which other tests have thousands at once. */
const [FIRST, LAST] = [10_000, 32_000]
let next = FIRST + ((process.pid * 100) % (LAST - FIRST))

/** A free port. No other call in this process returns it, and other processes begin elsewhere. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next
    next = port < LAST ? port + 1 : FIRST
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(Boolean, () => false)
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Lets the server listen on a free port. Returns the port. */
export async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await once(server.listen(0, host), 'listening')
  return (server.address() as AddressInfo).port // a TCP server has no other kind
}

/** Closes the server after the test. */
export function listenUntilEnd(t: TestContext, server: Server): Promise<number> {
  t.after(() => server.close())
  return listen(server)
}

export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const connected = await once(socket, 'connect').then(Boolean, () => false)
  socket.destroy()
  return connected
}

export async function untilFree(port: number): Promise<void> {
  while (await isListening(port)) await setTimeout(100)
}
