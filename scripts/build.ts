/** Makes dist/: the compiled source and the files that the service reads at run time. */
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'

await import('./build-assets.ts')
rmSync('dist', { recursive: true, force: true })
const { status } = spawnSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
for (const folder of ['database/migrations', 'web/assets/built'])
  cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true })
