/**
 * Makes dist/: what the package and the single executable carry. The service with its commands and all that it
 * depends on is one file. Node and the bundles are all it needs.
 */
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { bundle, bundleService, common, commonjs, shippedFolders } from './bundle.ts'
import { IN_ASSETS, noticesOf } from './notices.ts'
import { printTypes } from './print-types.ts'

await import('./build-assets.ts')
rmSync('dist', { recursive: true, force: true })
for (const folder of shippedFolders) cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true })

// The library is one file for each module system. Only its thread loads the service, and needs a new Node.
const library = 'src/testing/library.ts'
const packages = [
  ...IN_ASSETS,
  ...(await bundleService('dist')),
  ...(await bundle(library, { ...commonjs, target: 'node20', outfile: 'dist/testing/index.cjs' })),
  ...(await bundle(library, {
    ...common,
    format: 'esm',
    target: 'node20',
    outfile: 'dist/testing/index.js',
  })),
]
for (const name of ['index.d.ts', 'index.d.cts'])
  writeFileSync(`dist/testing/${name}`, printTypes())

/** The folders of the packages that dist/ contains. */
export const contained = [...new Set(packages)].sort()

writeFileSync('dist/licences.txt', noticesOf(contained))
