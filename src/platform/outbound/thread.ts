/** The thread that makes requests over TLS for an account. */
import { parentPort } from 'node:worker_threads'
import { createRequests } from './request.ts'
import { type FromThread, monotonic, type ThreadOptions, type ToThread } from './secure.ts'

const say = (message: FromThread) => parentPort?.postMessage(message)

/** The first message has the options. */
parentPort?.once('message', (options: ThreadOptions) => {
  const asked = new Map<number, (addresses: string[]) => void>()
  let lastId = 0
  const resolve = (host: string): Promise<string[]> => {
    const { promise, resolve } = Promise.withResolvers<string[]>()
    lastId += 1
    asked.set(lastId, resolve)
    say({ id: lastId, host })
    return promise
  }
  const { request } = createRequests({ ...options, resolve })
  say('ready')

  parentPort?.on('message', async (said: ToThread) => {
    const { id } = said
    if ('addresses' in said) {
      asked.get(id)?.([...said.addresses])
      asked.delete(id)
      return
    }
    const closed = Promise.withResolvers<void>()
    const { answer, ...result } = await request(said.hop, said.until - monotonic(), closed.resolve)
    say({ id, result, hasAnswer: answer !== undefined })
    await closed.promise
    say({ id, answer: await answer })
  })
})
