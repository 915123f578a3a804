import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type Client, createClient } from '../support/client.ts'
import { consoleOf, cookieIn } from '../support/console.ts'
import { tempDatabase } from '../support/folders.ts'
import { type Probed, startProbe } from '../support/probe-process.ts'
import { type FarthingProcess, runProcess, startProcess } from '../support/process.ts'
import { type Behaviour, startReceiver } from '../support/receiver.ts'
import type { Job } from './run.ts'

const KEY = 'key-of-the-default-account'

/** Deep, and with many items, which every printer with indents writes on a line of its own. */
const DEEP = `${'['.repeat(1_050)}${'0,'.repeat(125_000)}0${']'.repeat(1_050)}`
/** As deep as is explained, and as many bytes as a body may have. */
const ALLOWED = `${'['.repeat(64)}${'0,'.repeat(32_000)}0${']'.repeat(64)}`
const ITEMS = `[${'0,'.repeat(32_000)}0]`

/** Each attack, what comes back, and the longest silence in milliseconds and the most memory in megabytes that it may cause. */
const attacks: {
  name: string
  heap?: number
  attack: Attack
  answer: string
  silent: number
  memory: number
}[] = [
  {
    name: 'a form with 250 KB of JSON, 1,050 deep',
    attack: at => compare(at, DEEP),
    answer: '400',
    silent: 200,
    memory: 300,
  },
  {
    name: 'the same in a heap of 1 GB',
    heap: 1_024,
    attack: at => compare(at, DEEP),
    answer: '400',
    silent: 200,
    memory: 300,
  },
  {
    name: '10 forms at once with 64 KB of JSON, 64 deep',
    heap: 1_024,
    attack: compareAtOnce(ALLOWED),
    answer: '200',
    silent: 200,
    memory: 300,
  },
  {
    name: '10 forms at once with 64 KB of JSON',
    heap: 1_024,
    attack: compareAtOnce(ITEMS),
    answer: '200',
    silent: 200,
    memory: 300,
  },
  {
    name: 'a receiver that answers with 2,000 hexadecimal texts is asked',
    attack: askOne,
    answer: 'unknown after 45 copies',
    silent: 100,
    memory: 300,
  },
  {
    name: 'the same receiver is asked by 10 requests at once',
    attack: askAtOnce,
    answer: '409 and unknown after 45 copies',
    silent: 100,
    memory: 300,
  },
]

type Attacked = { service: FarthingProcess; api: Client; receiver: string }
type Attack = (at: Attacked) => Promise<string>

export const job: Job = {
  title: 'signatures of large bodies, and receivers with long answers (SQLite)',
  async run() {
    const lines: string[] = []
    const late: string[] = []
    for (const { name, heap, attack, answer, silent, memory: most } of attacks) {
      const { said, silence, stranger, memory, failed } = await attacked(heap, attack)
      const line = `${name}: ${said}, /healthz at most ${silence} ms, another account's request ${stranger} ms, ${memory} MB`
      console.log(line)
      lines.push(line)
      assert.deepEqual([said, failed], [answer, {}], name)
      if (silence > silent || memory > most) late.push(line)
    }
    assert.deepEqual(late, [])
    return lines.join('; ')
  },
}

async function attacked(
  heap: number | undefined,
  attack: Attack,
): Promise<Probed & { said: string }> {
  const receiver = await startReceiver({ plain: true, onRequest: hexadecimal })
  const env = {
    DATABASE_URL: tempDatabase(),
    FARTHING_API_KEY: KEY,
    FARTHING_CALLBACK_HOSTS: 'localhost',
    FARTHING_CONTROL: 'true',
    LOG_LEVEL: 'error',
    ...(heap && { NODE_OPTIONS: `--max-old-space-size=${heap}` }),
  }
  const service = await startProcess({ env })
  try {
    const made = await runProcess({ env, args: ['keys', 'create', '--account', 'other'] })
    const api = createClient([service.baseUrl], KEY)
    const key = made.stdout.trim()
    const probe = await startProbe(service, key)
    const said = await attack({ service, api, receiver: receiver.url })
    return { ...(await probe.stop()), said }
  } finally {
    await service.kill()
    await receiver.close()
  }
}

async function compare({ service, api }: Attacked, body: string): Promise<string> {
  const entered = await consoleOf({ apps: [], baseUrls: [service.baseUrl] }).post('sign-in', {
    key: api.key ?? '',
  })
  const form = new FormData()
  form.set('header', 'f'.repeat(64))
  form.set('key', 'a key')
  form.set('computed', 'e'.repeat(64))
  form.set('file', new Blob([body]), 'body.json')
  const { status } = await fetch(`${service.baseUrl}/console/signature`, {
    method: 'POST',
    body: form,
    headers: { Cookie: cookieIn(entered) },
  })
  return `${status}`
}

function compareAtOnce(body: string): Attack {
  return async at => {
    const statuses = await Promise.all(Array.from({ length: 10 }, () => compare(at, body)))
    return [...new Set(statuses)].sort().join(' and ')
  }
}

const hexOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Refuses with as many texts of 64 digits as an answer has room for. */
const hexadecimal: NonNullable<Behaviour['onRequest']> = ({ response, nth }) => {
  const texts = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => hexOf(`${nth} ${from + i}`)).join(' ')
  for (let i = 0; i < 18; i++) response.setHeader(`X-Seen-${i}`, texts(50 * i, 50))
  response.writeHead(401).end(texts(1_000, 126))
}

async function refusedMessage({ api, receiver }: Attacked): Promise<string> {
  const { body } = await api.post('/v1/webhooks', { callback_url: receiver })
  for (let i = 0; i < 19; i++)
    await api.post('/v1/webhooks', {
      callback_url: receiver,
      subscriptions: ['card_payment_refunded'],
    })
  const metadata = Object.fromEntries(
    Array.from({ length: 10 }, (_, i) => [`k${i}`, 'ü'.repeat(100)]),
  )
  const { payment_id } = await api.createPayment({ metadata })
  await api.post(`/v1/payments/${payment_id}/cancel`)
  const messages = await api.get(`/v1/webhooks/${body.external_id}/messages`)
  return messages.body.results[0].webhook_message_id
}

async function askOne(at: Attacked): Promise<string> {
  return askAbout(at, await refusedMessage(at))
}

async function askAbout({ service, api }: Attacked, id: string): Promise<string> {
  const response = await fetch(`${service.baseUrl}/control/messages/${id}/ask`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.key}` },
  })
  const { cause, posts } = (await response.json()) as { cause?: string; posts?: number }
  return cause === undefined ? `${response.status}` : `${cause} after ${posts} copies`
}

async function askAtOnce(at: Attacked): Promise<string> {
  const id = await refusedMessage(at)
  const answers = await Promise.all(Array.from({ length: 10 }, () => askAbout(at, id)))
  return [...new Set(answers)].sort().join(' and ')
}
