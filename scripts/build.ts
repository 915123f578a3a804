/**
 * Makes dist/, the content of the package and of the single executable. One file has the service with its commands and
 * all its dependencies. It needs only Node and the bundles.
 */
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { bundle, bundleService, common, commonjs, shippedFolders } from './bundle.ts'
import { IN_ASSETS, noticesOf } from './notices.ts'
import { printTypes } from './print-types.ts'

await import('./build-assets.ts')
rmSync('dist', { recursive: true, force: true })
for (const folder of shippedFolders) cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true })

// The library is one file for each module system. Only its thread loads the service, which needs a newer Node.
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
