/** The thread that writes. fsync takes longer than all other work together, and here it holds up nobody. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Statement } from '../../ports.ts'
import { createCommit, failureOf, type Result } from './commit.ts'
import { connect } from './connection.ts'

/** What the thread is asked to do. Each is answered with results, in the order of the asking. */
export type Order = { commit: Statement[][] } | { exec: string } | 'close'

/** In kilobytes. What is written is mostly appended: few pages are needed again. */
const WRITE_CACHE = 16_000

const connection = connect(workerData as string, WRITE_CACHE) // the path, from sqlite.ts
const commit = createCommit(connection)

function exec(sql: string): Result[] {
  try {
    connection.exec(sql)
    return []
  } catch (error) {
    return [failureOf(error)]
  }
}

parentPort?.on('message', (order: Order) => {
  if (order === 'close') {
    connection.close()
    parentPort?.close()
  } else parentPort?.postMessage('commit' in order ? commit(order.commit) : exec(order.exec))
})
