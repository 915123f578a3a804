/**
 * Watches a service from a thread of its own, so that a busy test does not delay the watch: asks `/healthz` and reads a
 * payment of an account that has no part in the load, each as soon as 20 ms have passed since the response before.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createClient, exchange, webPayment } from './client.ts'

export type Probed = {
  /** The longest time in milliseconds that `/healthz` took, or has been without a response. */
  silence: number
  /** The same time for `GET /v1/payments/{payment_id}` of the account. */
  stranger: number
  /** The same time for `POST /v1/payments`, if the probe creates. */
  create: number
  /** Milliseconds that 99 of 100 requests of the account took at most. */
  p99: number
  /** The most memory that the process has had resident, in megabytes of 1,000,000 bytes. */
  memory: number
  /** The number of other statuses than 200 and 201, and of error codes, by their text. */
  failed: Record<string, number>
}

type Target = {
  probed: { baseUrl: string; pid: number; path: string; key: string; creates: boolean }
}

/** `key` is that of an account for which the probe makes a payment. */
export async function startProbe(
  { baseUrl, pid }: { baseUrl: string; pid: number },
  key: string,
  creates: boolean,
) {
  const { payment_id } = await createClient([baseUrl], key).createPayment()
  const path = `/v1/payments/${payment_id}`
  const target: Target = { probed: { baseUrl, pid, path, key, creates } }
  const thread = new Worker(new URL(import.meta.url), { workerData: target })
  await once(thread, 'message')
  return {
    /** To be called before the process is ended. */
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

function watch({ baseUrl, pid, path, key, creates }: Target['probed']): void {
  const failed: Record<string, number> = {}
  let memory = 0
  let goesOn = true
  const looks: (() => void)[] = []

  const took: number[] = []

  function ask(url: string, headers: Record<string, string>, body?: string): () => number {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    let longest = 0
    let begun = performance.now()
    const note = () => {
      const ms = performance.now() - begun
      longest = Math.max(longest, ms)
      return ms
    }
    looks.push(note)
    const loop = async () => {
      while (goesOn) {
        begun = performance.now()
        const outcome = await Promise.race([
          exchange(body ? 'POST' : 'GET', url, headers, body, agent).then(
            ({ status }) => String(status),
            (error: NodeJS.ErrnoException) => error.code ?? error.message,
          ),
          setTimeout(PATIENCE_MS, 'timeout', { ref: false }),
        ])
        const ms = note()
        if (url !== health) took.push(ms)
        if (!/^20[01]$/.test(outcome)) failed[outcome] = (failed[outcome] ?? 0) + 1
        await setTimeout(PAUSE_MS)
        begun = performance.now()
      }
    }
    void loop()
    return () => Math.round(longest)
  }

  const health = `${baseUrl}/healthz`
  const authorised = { Authorization: `Bearer ${key}` }
  const silence = ask(health, {})
  const stranger = ask(baseUrl + path, authorised)
  const sent = { ...authorised, 'Content-Type': 'application/json' }
  const create = creates ? ask(`${baseUrl}/v1/payments`, sent, JSON.stringify(webPayment)) : () => 0
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
    const p99 = Math.round(took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0)
    const longest = { silence: silence(), stranger: stranger(), create: create() }
    const probed: Probed = { ...longest, p99, memory, failed }
    parentPort?.postMessage(probed)
  })
  parentPort?.postMessage('ready')
}

/** The largest resident size so far; 0 if the process is gone. */
export function peakMegabytes(pid: number): number {
  try {
    const kilobytes = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Math.round((Number(kilobytes ?? 0) * 1024) / 1e6)
  } catch {
    return 0
  }
}

if (!isMainThread && workerData?.probed) watch((workerData as Target).probed)
