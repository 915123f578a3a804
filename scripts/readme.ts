/**
 * npm packs the README.md of the clone, whose links lead to files that are not in the package. So `prepack` puts the
 * package's own in its place (`readme.ts package`), and `postpack` brings the clone's back (`readme.ts clone`).
 */
import { copyFileSync, existsSync, renameSync } from 'node:fs'

const KEPT = '.clone-readme.md'

if (process.argv[2] === 'package') {
  // After an interrupted npm pack the kept file is the clone's, and README.md is the package's.
  if (!existsSync(KEPT)) copyFileSync('README.md', KEPT)
  copyFileSync('docs/package.md', 'README.md')
} else if (existsSync(KEPT)) renameSync(KEPT, 'README.md')
