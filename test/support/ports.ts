/** Ports of loopback. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const connected = once(socket, 'connect').then(
    () => true,
    () => false,
  )
  const result = await connected
  socket.destroy()
  return result
}

/** Waits until nothing listens, for up to ten seconds. Returns whether that is so. */
export async function isFreeAgain(port: number): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    if (!(await isListening(port))) return true
    await setTimeout(100)
  }
  return false
}
