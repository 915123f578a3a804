/** Loads pages of the console as a browser does, one after the other. */
import { percentile } from './load.ts'
import { round } from './measure.ts'
import { KEY } from './servers.ts'

const LOADS = 200

export type Loaded = { p50: number; p99: number; bytes: number }

/** Signs in, and loads a page of the console again and again. */
export async function loadPages(
  port: number,
  page: string,
  { loads = LOADS }: { loads?: number } = {},
): Promise<Loaded> {
  const cookie = await signIn(port)
  const times: number[] = []
  let bytes = 0
  for (let i = 0; i < loads; i++) {
    const began = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/console/${page}`, {
      headers: { Cookie: cookie },
    })
    const text = await response.text()
    times.push(performance.now() - began)
    if (response.status !== 200) throw new Error(`${response.status} ${text}`)
    bytes = Buffer.byteLength(text)
  }
  return { p50: round(percentile(times, 0.5), 2), p99: round(percentile(times, 0.99), 2), bytes }
}

async function signIn(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/console/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ key: KEY }),
    redirect: 'manual',
  })
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}
