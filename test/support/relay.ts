/** A TCP relay on loopback, as an address that stays the same while the server behind it changes. */
import { connect, createServer, type Socket } from 'node:net'
import { listen } from './ports.ts'

/** `change` may replace bytes of the server. */
export async function startRelay(target: number, change: (bytes: Buffer) => Buffer = all => all) {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  let current = target
  const server = createServer(client => {
    const behind = connect(current, '127.0.0.1')
    keep(client).on('close', () => behind.destroy())
    keep(behind).on('close', () => client.destroy())
    client.pipe(behind)
    behind.on('data', bytes => client.write(change(Buffer.from(bytes))))
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: await listen(server),
    /** Leads new connections to this port of loopback from now on, and cuts the open ones. */
    leadTo(port: number) {
      current = port
      cut()
    },
    async close() {
      cut()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
