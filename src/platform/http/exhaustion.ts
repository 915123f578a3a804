import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:net'
import { devNull } from 'node:os'

/** Milliseconds between two looks, and looks between two lines. */
const CHECK_INTERVAL = 1_000
const LOOKS_PER_LINE = 60

/**
 * Calls `warn` at most once a minute while a server closes new connections: beyond `maxConnections`, or because the
 * process may open no further file. Node does not report the second case, so this opens a file once a second.
 */
export function reportExhaustion(server: Server, warn: (line: string) => void): void {
  let refused = 0
  let looksToSkip = 0
  server.on('drop', () => {
    refused += 1
  })

  async function look(): Promise<void> {
    looksToSkip -= 1
    if (looksToSkip >= 0) return
    const line = refused > 0 ? tooMany(refused) : await filesLine(server)
    if (line === undefined) return
    warn(line)
    refused = 0
    looksToSkip = LOOKS_PER_LINE - 1
  }

  server.once('listening', () => {
    const looking = setInterval(look, CHECK_INTERVAL).unref()
    server.once('close', () => clearInterval(looking))
  })
}

const tooMany = (refused: number): string =>
  `connections were closed as they came: ${refused}, because too many are open`

async function filesLine(server: Server): Promise<string | undefined> {
  try {
    closeSync(openSync(devNull, 'r'))
    return undefined
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException // fs throws no other kind
    if (code !== 'EMFILE' && code !== 'ENFILE') return undefined
    const count = await new Promise<number>(resolve =>
      server.getConnections((_error, connections) => resolve(connections)),
    )
    return `new connections are closed as they come, because the process may open no further file: ${count} connections are open`
  }
}
