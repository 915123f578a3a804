/** The writing thread. fsync takes most of a commit's time, and here it does not block the main thread. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Statement } from '../../../core/ports.ts'
import { createCommit, failureOf, type Result } from './commit.ts'
import { type Connection, connect } from './connection.ts'

/** A message to the thread. It replies with results, in the order of the messages; to 'close' by ending. */
export type Command = { commit: Statement[][] } | { exec: string } | 'close'

/** Kilobytes. Writes mostly append, so few pages are needed twice. */
const WRITE_CACHE = 16_000

type Opened = { connection: Connection; commit: (batch: Statement[][]) => Result[] }

let opened: Opened | undefined

/** Opens the file for the first command, because the main thread opens it first. */
function open(): Opened {
  const connection = connect(workerData as string, WRITE_CACHE) // the path, from sqlite.ts
  return { connection, commit: createCommit(connection) }
}

function exec({ connection }: Opened, sql: string): Result[] {
  try {
    connection.exec(sql)
    return []
  } catch (error) {
    return [failureOf(error)]
  }
}

parentPort?.on('message', (command: Command) => {
  if (command === 'close') {
    opened?.connection.close()
    parentPort?.close()
    return
  }
  opened ??= open()
  const results = 'commit' in command ? opened.commit(command.commit) : exec(opened, command.exec)
  parentPort?.postMessage(results)
})
