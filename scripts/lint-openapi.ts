/** Checks /openapi.json against the rules of redocly.yaml, without a network. Part of `npm run check`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/open.ts'
import { createNewId } from '../src/ids.ts'

/** The document of a service at the default address. */
async function readDescription(): Promise<string> {
  const config = readConfig({
    DATABASE_URL: 'sqlite::memory:',
    FARTHING_BASE_URL: 'http://127.0.0.1:3000',
  })
  const never = () => {
    throw new Error('/openapi.json needs no network and no deliveries')
  }
  const database = await openDatabase(config.database, {
    onUnknownOutcome: never,
    onConnectionError: never,
  })
  const ports = { database, clock: Date.now, newId: createNewId(), resolve: never, send: never }
  const { server } = await createApp(ports, config)
  const { body } = await server.inject('/openapi.json')
  await server.close()
  await database.close()
  return body
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
