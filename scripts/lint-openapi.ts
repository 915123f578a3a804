/** Checks /openapi.json and /control/openapi.json by redocly.yaml, without a network. Part of `npm run check`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/app/config.ts'
import { startFarthing } from '../src/app/start.ts'

/** The documents as a service at the usual address sends them. */
async function readDescriptions(): Promise<[name: string, text: string][]> {
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: 'sqlite::memory:',
    FARTHING_BASE_URL: 'http://127.0.0.1:3000',
    FARTHING_CONTROL: 'true',
  })
  const farthing = await startFarthing({ config, backgroundWork: false })
  const read = async (path: string) => (await fetch(`${farthing.url}${path}`)).text()
  const texts: [string, string][] = [
    ['openapi.json', await read('/openapi.json')],
    ['control-openapi.json', await read('/control/openapi.json')],
  ]
  await farthing.close()
  return texts
}

const folder = mkdtempSync(join(tmpdir(), 'farthing-openapi-'))
const files: string[] = []
for (const [name, text] of await readDescriptions()) {
  const file = join(folder, name)
  // On several lines, so that a report can name a line.
  writeFileSync(file, JSON.stringify(JSON.parse(text), null, 2))
  files.push(file)
}
const { status } = spawnSync('redocly', ['lint', ...files, '--config=redocly.yaml'], {
  stdio: 'inherit',
  env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
})
rmSync(folder, { recursive: true })
process.exitCode = status ?? 1
