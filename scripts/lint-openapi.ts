/** Checks /openapi.json against the rules of redocly.yaml, without a network. Part of `npm run check`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { startFarthing } from '../src/start.ts'

/** The document as a service at the usual address sends it. */
async function readDescription(): Promise<string> {
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: 'sqlite::memory:',
    FARTHING_BASE_URL: 'http://127.0.0.1:3000',
  })
  const farthing = await startFarthing({ config, backgroundWork: false })
  const response = await fetch(`${farthing.url}/openapi.json`)
  const text = await response.text()
  await farthing.close()
  return text
}

const folder = mkdtempSync(join(tmpdir(), 'farthing-openapi-'))
const file = join(folder, 'openapi.json')
// On several lines, so that a report can name a line.
writeFileSync(file, JSON.stringify(JSON.parse(await readDescription()), null, 2))
const { status } = spawnSync('redocly', ['lint', file, '--config=redocly.yaml'], {
  stdio: 'inherit',
  env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
})
rmSync(folder, { recursive: true })
process.exitCode = status ?? 1
