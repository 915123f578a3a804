/**
 * Watches a service from a thread of its own, so that a busy test does not delay the watch: asks `/healthz` and reads a
 * payment of an account that has no part in the load, each as soon as 20 ms have passed since the response before.
 *
 *     const service = await startProcess({ env: { NODE_OPTIONS: '--max-old-space-size=1024' } })
 *     const probe = await startProbe(service, key)
 *     ...
 *     const { silence, stranger, memory, failed } = await probe.stop()
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createClient } from './client.ts'

export type Probed = {
  /** The longest time in milliseconds that `/healthz` took, or went without a response. */
  silence: number
  /** The same for `GET /v1/payments/{payment_id}` of the account. */
  stranger: number
  /** The most memory that the process has had resident, in megabytes of 1,000,000 bytes. */
  memory: number
  /** Requests that were sent. */
  asked: number
  /** What came instead of a 200, and how often: other statuses, and codes of errors. */
  failed: Record<string, number>
}

export type Probe = {
  /** Ends the watch, before the process is ended. */
  stop(): Promise<Probed>
}

type Target = { probed: { baseUrl: string; pid: number; path: string; key: string } }

/** Watches the process from now on. `key` is that of an account for which it makes a payment. */
export async function startProbe(
  { baseUrl, pid }: { baseUrl: string; pid: number },
  key: string,
): Promise<Probe> {
  const { payment_id } = await createClient([baseUrl], key).createPayment()
  const target: Target = { probed: { baseUrl, pid, path: `/v1/payments/${payment_id}`, key } }
  const thread = new Worker(new URL(import.meta.url), { workerData: target })
  await once(thread, 'message')
  return {
    async stop() {
      thread.postMessage('stop')
      const [probed] = (await once(thread, 'message')) as [Probed] // as `watch` sends it
      await thread.terminate()
      return probed
    },
  }
}

const PAUSE_MS = 20
/** Milliseconds after which a request counts as failed. */
const PATIENCE_MS = 120_000

function watch({ baseUrl, pid, path, key }: Target['probed']): void {
  const failed: Record<string, number> = {}
  let [asked, memory] = [0, 0]
  let goesOn = true
  const looks: (() => void)[] = []

  function ask(url: string, headers: Record<string, string>): () => number {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    let longest = 0
    let begun = performance.now()
    looks.push(() => {
      longest = Math.max(longest, performance.now() - begun)
    })
    const loop = async () => {
      while (goesOn) {
        begun = performance.now()
        asked += 1
        const outcome = await outcomeOf(url, headers, agent)
        longest = Math.max(longest, performance.now() - begun)
        if (outcome !== '200') failed[outcome] = (failed[outcome] ?? 0) + 1
        await setTimeout(PAUSE_MS)
        begun = performance.now()
      }
    }
    void loop()
    return () => Math.round(longest)
  }

  const silence = ask(`${baseUrl}/healthz`, {})
  const stranger = ask(baseUrl + path, { Authorization: `Bearer ${key}` })
  const measure = () => {
    memory = Math.max(memory, peakMegabytes(pid))
  }
  const measuring = setInterval(measure, 100)
  parentPort?.on('message', () => {
    goesOn = false
    clearInterval(measuring)
    measure()
    // A request that has no response yet counts too.
    for (const look of looks) look()
    const probed: Probed = { silence: silence(), stranger: stranger(), memory, asked, failed }
    parentPort?.postMessage(probed)
  })
  parentPort?.postMessage('ready')
}

/** The status, or the code of the error. */
const outcomeOf = (
  url: string,
  headers: Record<string, string>,
  agent: http.Agent,
): Promise<string> =>
  new Promise(resolve => {
    http
      .get(url, { headers, agent, timeout: PATIENCE_MS }, response => {
        response.resume().on('close', () => resolve(String(response.statusCode)))
      })
      .on('timeout', () => resolve('timeout'))
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })

/** The largest resident size so far; 0 if the process is gone. */
function peakMegabytes(pid: number): number {
  try {
    const kilobytes = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Math.round((Number(kilobytes ?? 0) * 1024) / 1e6)
  } catch {
    return 0
  }
}

if (!isMainThread && workerData?.probed) watch((workerData as Target).probed)
