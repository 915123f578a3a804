/**
 * Requests over TLS, on a thread for each account that has some: a receiver decides how long it takes to check its
 * certificates. A chain of 60 keys with large exponents took 600 ms.
 */
import { SECURE_THREADS } from '../../core/budgets.ts'
import { startThread } from '../../core/files.ts'
import type { ReceiverResponse } from '../../core/ports.ts'
import type { Hop } from './follow.ts'
import { failed, type RequestOptions, type Result } from './request.ts'

const THREAD = 'platform/outbound/thread'
/** Milliseconds for which a thread without a request is kept. */
const IDLE_MS = 10_000
/** Milliseconds after its time has run out in which the thread can say so itself, and how long it was connected. */
const GRACE_MS = 50

export type ThreadOptions = Omit<RequestOptions, 'resolve'>
/** `until` is by `monotonic`. */
export type ToThread =
  | { id: number; hop: Hop; until: number }
  | { id: number; addresses: readonly string[] }
/** That it has started, the question for a name, a result, or the end of a request with what is kept of its response. */
export type FromThread =
  | 'ready'
  | { id: number; host: string }
  | { id: number; result: Result; hasAnswer: boolean }
  | { id: number; answer: ReceiverResponse | undefined }

/** Milliseconds, the same on every thread. */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6

const NOTHING: ReceiverResponse = { headers: [], body: Buffer.alloc(0), size: 0, sent: {} }

type Pending = {
  settle(result: Result, hasAnswer?: boolean): void
  end(given?: ReceiverResponse): void
}

type Thread = ReturnType<typeof startRequests>

export function createSecureRequests(options: RequestOptions) {
  const threads = new Map<string, Thread>()

  function threadOf(owner: string): Thread {
    const own = threads.get(owner)
    if (own) return own
    const [leastBusy] = [...threads.values()].sort((a, b) => a.pending.size - b.pending.size)
    if (leastBusy && threads.size >= SECURE_THREADS) return leastBusy
    const thread = startRequests(options, () => {
      if (threads.get(owner) === thread) threads.delete(owner)
    })
    threads.set(owner, thread)
    return thread
  }

  return {
    /** As `request` of createRequests, on the thread of the owner. */
    request: (owner: string, hop: Hop, left: number, done: () => void): Promise<Result> =>
      threadOf(owner).request(hop, left, done),
    close() {
      for (const { end } of threads.values()) end()
    },
  }
}

/** A thread with requests keeps the process alive. One that has had none for a while ends. */
function startRequests({ resolve, ...options }: RequestOptions, forget: () => void) {
  const worker = startThread(THREAD)
  const say = (message: ThreadOptions | ToThread) => worker.postMessage(message)
  const pending = new Map<number, Pending>()
  function end(): void {
    forget()
    void worker.terminate()
  }
  let idle: NodeJS.Timeout | undefined
  let lastId = 0
  let cause: string | undefined

  say(options)
  const ready = Promise.withResolvers<void>()
  worker.on('message', async (said: FromThread) => {
    if (said === 'ready') return ready.resolve()
    const { id } = said
    if ('host' in said) say({ id, addresses: await resolve(said.host).catch(() => []) })
    else if ('result' in said) pending.get(id)?.settle(said.result, said.hasAnswer)
    else pending.get(id)?.end(said.answer)
  })
  worker.on('error', error => {
    cause = (error as NodeJS.ErrnoException).code // only Node's own have one
  })
  worker.once('exit', () => {
    forget()
    for (const { settle, end } of pending.values()) {
      settle({ ...failed('connection failed', null), ...(cause && { cause }) })
      end()
    }
    clearTimeout(idle)
  })

  return {
    pending,
    end,
    request({ url, headers, body, keepsAnswer = false }: Hop, left: number, done: () => void) {
      clearTimeout(idle)
      worker.ref()
      lastId += 1
      const id = lastId
      const kept = Promise.withResolvers<ReceiverResponse>()
      const { promise, resolve } = Promise.withResolvers<Result>()
      let timer: NodeJS.Timeout | undefined
      const settle: Pending['settle'] = (result, hasAnswer = false) => {
        clearTimeout(timer)
        resolve(hasAnswer ? { ...result, answer: kept.promise } : result)
      }
      pending.set(id, {
        settle,
        end(given) {
          kept.resolve(given ? { ...given, body: Buffer.from(given.body) } : NOTHING)
          done()
          pending.delete(id)
          if (pending.size > 0) return
          worker.unref()
          idle = setTimeout(end, IDLE_MS).unref()
        },
      })
      // The start of a thread takes no time from its requests: on a busy machine they would have none left.
      void ready.promise.then(() => {
        // It may be busy with the certificates of another receiver of the account.
        timer = setTimeout(() => settle(failed('timeout', null)), Math.max(0, left) + GRACE_MS)
        say({ id, hop: { url, headers, body, keepsAnswer }, until: monotonic() + left })
      })
      return promise
    },
  }
}
