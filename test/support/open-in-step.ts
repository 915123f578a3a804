/** A thread that opens databases one after the other, each at the same moment as the other threads. */
import { parentPort, workerData } from 'node:worker_threads'
import { openAt } from './open-database.ts'

export type InStep = {
  paths: string[]
  threads: number
  /** [arrivals of threads at a database, databases at which all threads have arrived] */
  gate: Int32Array
}

/** Milliseconds to wait for the slowest thread. */
const LONGEST_WAIT = 10_000

const { paths, threads, gate } = workerData as InStep // from the test that starts the thread
const problems: string[] = []
for (const [i, path] of paths.entries()) {
  if (Atomics.add(gate, 0, 1) === (i + 1) * threads - 1) {
    Atomics.store(gate, 1, i + 1)
    Atomics.notify(gate, 1)
  } else Atomics.wait(gate, 1, i, LONGEST_WAIT)
  try {
    await (await openAt(`sqlite:${path}`)).close()
  } catch (error) {
    problems.push(String(error))
  }
}
parentPort?.postMessage(problems)
