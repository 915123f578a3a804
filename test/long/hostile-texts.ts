import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createClient, sendUnchecked } from '../support/client.ts'
import { consoleOf, cookieIn } from '../support/console.ts'
import { tempDatabase } from '../support/folders.ts'
import { startProbe } from '../support/probe-process.ts'
import { startProcess } from '../support/process.ts'
import type { Job } from './run.ts'

const KEY = 'key-of-the-default-account'

/** Milliseconds of the service's processor time for one request, and of silence while many come at once. */
const MOST_WORK = 5
const LONGEST_SILENCE = 200

const FORM = 'application/x-www-form-urlencoded'
const FILES = 'multipart/form-data; boundary=x'
const PART = '--x\r\nContent-Disposition: form-data; name=""\r\n\r\n\r\n'

type Text = {
  path: string
  /** A form; without it the page is asked for. */
  body?: string
  type?: string
  /** Without the hostile part: what it takes more than this counts. */
  plain?: string
  atOnce: number
}

const fields = (bytes: number) => 'a&'.repeat(bytes / 2)

const texts: Record<string, Text> = {
  'a day followed by 15,000 spaces': {
    path: `/console/payments?from=2026-01-01${'+'.repeat(15_000)}x`,
    plain: '/console/payments?from=x',
    atOnce: 60,
  },
  '260 KB of a&a& to sign in': { path: '/console/sign-in', body: fields(260_000), atOnce: 50 },
  '16 KB of a&a& to sign in': { path: '/console/sign-in', body: fields(16_000), atOnce: 50 },
  '260 KB of a&a& to enter': { path: '/console/enter', body: fields(260_000), atOnce: 50 },
  '64 KB of a&a& for a card': { path: '/v1/auth', body: fields(64_000), atOnce: 50 },
  '16 KB of a&a& for a card': { path: '/v1/auth', body: fields(16_000), atOnce: 50 },
  '64 KB of a&a& for a page': { path: '/secure', body: fields(64_000), atOnce: 50 },
  '4,500 empty parts of a form with files': {
    path: '/console/signature',
    body: `${PART.repeat(4_500)}--x--\r\n`,
    type: FILES,
    plain: '/console/signature',
    atOnce: 50,
  },
  '145 cookies of sessions': { path: '/console/payments', plain: '/console/sign-in', atOnce: 50 },
}

/** As many seals of no session as the headers of a request can have. */
const SEALS = Array.from(
  { length: 145 },
  (_, i) => `farthing_console=a.${i}.9999999999999.${'0'.repeat(64)}`,
).join('; ')

export const job: Job = {
  title: 'hostile texts: the processor time and the silence that one request causes',
  async run({ scale }) {
    const env = {
      DATABASE_URL: tempDatabase(),
      FARTHING_API_KEY: KEY,
      FARTHING_CONTROL: 'true',
      LOG_LEVEL: 'silent',
    }
    const service = await startProcess({ env })
    try {
      await createClient([service.baseUrl], KEY).createPayment()
      const stranger = consoleOf({ apps: [], baseUrls: [service.baseUrl] })
      const cookie = cookieIn(await stranger.post('sign-in', { key: KEY }))
      const send = ({ path, body, type = FORM }: Omit<Text, 'atOnce'>, name: string) =>
        sendUnchecked(service.baseUrl + path, {
          method: body === undefined ? 'GET' : 'POST',
          ...(body !== undefined && { body }),
          headers: {
            Cookie: name.includes('cookies') ? SEALS : cookie,
            ...(body !== undefined && { 'Content-Type': type }),
          },
        }).catch(() => undefined) // a body that is refused may be cut off
      const work = async (text: Omit<Text, 'atOnce'>, name = '') => {
        const count = Math.ceil(40 * scale)
        for (let i = 0; i < 5; i++) await send(text, name)
        const before = processorTime(service.pid)
        for (let i = 0; i < count; i++) await send(text, name)
        return (processorTime(service.pid) - before) / count
      }
      const lines: string[] = []
      const faults: string[] = []
      for (const [name, text] of Object.entries(texts)) {
        const more = (await work(text, name)) - (text.plain ? await work({ path: text.plain }) : 0)
        const probe = await startProbe(service, KEY)
        await Promise.all(Array.from({ length: text.atOnce }, () => send(text, name)))
        const { silence } = await probe.stop()
        const line = `${name}: ${more.toFixed(1)} ms of work, ${text.atOnce} at once ${silence} ms of silence`
        lines.push(line)
        console.log(line)
        if (more > MOST_WORK || silence > LONGEST_SILENCE) faults.push(line)
      }
      assert.deepEqual(faults, [])
      return lines.join('; ')
    } finally {
      await service.kill()
    }
  },
}

/** Of a process, in milliseconds, in steps of ten. */
function processorTime(pid: number): number {
  const [, ...columns] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = (columns.join(') ').split(' ') ?? []).slice(11, 13)
  return 10 * (Number(user) + Number(system))
}
