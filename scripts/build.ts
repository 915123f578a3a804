/**
 * Makes dist/: what the package and the single executable carry. The service with its commands and all that it
 * depends on is one file, because each file that a start loads costs it time. Node and the bundles are all it needs.
 */
import { copyFileSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { type BuildOptions, build } from 'esbuild'
import { IN_ASSETS, noticesOf } from './notices.ts'

await import('./build-assets.ts')
rmSync('dist', { recursive: true, force: true })
for (const folder of ['database/migrations', 'web/assets/built'])
  cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true })

/** Names stay as they are, for the stack traces in a log. */
const common: BuildOptions = {
  bundle: true,
  platform: 'node',
  legalComments: 'none',
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 200,
}
const commonjs: BuildOptions = {
  ...common,
  format: 'cjs',
  define: { 'import.meta.url': 'moduleUrl' },
  banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href" },
}
const packages = new Set(IN_ASSETS)

/** Makes one file of a source and all that it imports. */
async function bundle(source: string, options: BuildOptions): Promise<void> {
  const { metafile } = await build({ ...options, entryPoints: [source], metafile: true })
  for (const input of Object.keys(metafile.inputs)) {
    const [found] = /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input) ?? []
    if (found) packages.add(found)
  }
}

for (const [source, file] of [
  ['cli/main', 'farthing'],
  ['database/sqlite/thread', 'database/sqlite/thread'],
] as const)
  await bundle(`src/${source}.ts`, {
    ...commonjs,
    target: 'node24',
    outfile: `dist/${file}.cjs`,
  })

// The library is one file for each module system. Only its thread loads the service, and needs a new Node.
const library = 'src/testing/library.ts'
await bundle(library, { ...commonjs, target: 'node20', outfile: 'dist/testing/index.cjs' })
await bundle(library, {
  ...common,
  ...{ format: 'esm', target: 'node20', outfile: 'dist/testing/index.js' },
})
for (const name of ['index.d.ts', 'index.d.cts'])
  copyFileSync('src/testing/public.d.ts', `dist/testing/${name}`)

/** The folders of the packages that dist/ contains. */
export const contained = [...packages].sort()

writeFileSync('dist/licences.txt', noticesOf(contained))
