/** Makes dist/: the compiled source and the files that the service reads at run time. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, readdirSync, rmSync } from 'node:fs'
import { type BuildOptions, build } from 'esbuild'

await import('./build-assets.ts')
rmSync('dist', { recursive: true, force: true })
const { status } = spawnSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
for (const folder of ['database/migrations', 'web/assets/built'])
  cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true })

// The library is one file for each module system. Only its thread loads the service.
const library = 'dist/testing'
for (const name of readdirSync(library)) if (name !== 'thread.js') rmSync(`${library}/${name}`)
const options: BuildOptions = {
  entryPoints: ['src/testing/library.ts'],
  bundle: true,
  platform: 'node',
  target: 'node20',
}
await build({ ...options, format: 'esm', outfile: `${library}/index.js` })
await build({
  ...options,
  format: 'cjs',
  outfile: `${library}/index.cjs`,
  define: { 'import.meta.url': 'moduleUrl' },
  banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href" },
})
for (const name of ['index.d.ts', 'index.d.cts'])
  copyFileSync('src/testing/public.d.ts', `${library}/${name}`)
