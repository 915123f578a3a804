/**
 * npm packs the clone's README.md, which links to files outside the package, and the clone's package.json, whose
 * dependencies are bundled. So `prepack` replaces both files by the package's own (`packed-files.ts package`), and
 * `postpack` brings the clone's back (`packed-files.ts clone`). If npm pack is interrupted in between, the next npm
 * pack brings them back first: for that the package's package.json keeps these two scripts, which no installation runs.
 */
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

const FILES = ['README.md', 'package.json'] as const

const keptName = (name: string): string => `.clone-${name.toLowerCase()}`

/** After an interrupted npm pack the kept files are the clone's, and the others are the package's. */
function keep(): void {
  for (const name of FILES) if (!existsSync(keptName(name))) copyFileSync(name, keptName(name))
}

function bringBack(): void {
  for (const name of FILES) if (existsSync(keptName(name))) renameSync(keptName(name), name)
}

if (process.argv[2] === 'package') {
  keep()
  copyFileSync('docs/package.md', 'README.md')
  const { dependencies, devDependencies, scripts, allowScripts, scarfSettings, ...own } =
    JSON.parse(readFileSync(keptName('package.json'), 'utf8'))
  const { prepack, postpack } = scripts
  const packed = { ...own, scripts: { prepack, postpack } }
  writeFileSync('package.json', `${JSON.stringify(packed, null, 2)}\n`)
} else bringBack()
