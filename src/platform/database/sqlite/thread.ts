/** The writing thread. fsync takes most of a commit's time, and here it does not block the main thread. */
import { parentPort } from 'node:worker_threads'
import type { Statement } from '../../../core/ports.ts'
import { createCommit } from './commit.ts'
import { connect } from './connection.ts'

/** Kilobytes. Writes mostly append, so few pages are needed twice. */
const WRITE_CACHE = 16_000

/** The first message is the path. The thread replies to each batch with its results, and ends after 'close'. */
parentPort?.once('message', (path: string) => {
  const connection = connect(path, WRITE_CACHE)
  const commit = createCommit(connection)
  parentPort?.on('message', (command: Statement[][] | 'close') => {
    if (command !== 'close') return parentPort?.postMessage(commit(command))
    connection.close()
    parentPort?.close()
  })
})
