/** The service on a thread of its own. The library starts the thread, and stops it with a message. */
import { parentPort, workerData } from 'node:worker_threads'
import { pino } from 'pino'
import { readConfig } from '../app/config.ts'
import { startFarthing } from '../app/start.ts'

async function main(): Promise<void> {
  const config = { ...readConfig(workerData.env), isLibrary: true }
  const line = (text: string) => parentPort?.postMessage({ line: text })
  const logger =
    config.logLevel === 'silent' ? undefined : pino({ level: config.logLevel }, { write: line })
  const farthing = await startFarthing({ config, logger, seed: workerData.seed })
  parentPort?.on('message', async () => {
    await farthing.close()
    parentPort?.close()
  })
  parentPort?.postMessage({ url: farthing.url })
}

void main()
