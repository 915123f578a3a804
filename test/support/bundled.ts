/** The command as the package has it: in one file, which starts in two thirds of the time that the sources take. */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { bundleService, shippedFolders } from '../../scripts/bundle.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Always the same, so that Node finds the code that it compiled in earlier runs. */
const FOLDER = join(ROOT, 'node_modules/.cache/farthing-command')
const COMPILED = ['farthing.cjs', 'platform/database/sqlite/thread.cjs']

/** Makes it from the present sources. Returns its path. Another run may be using it, so each file is replaced at once. */
export async function bundleCommand(): Promise<string> {
  const draft = join(FOLDER, `draft-${process.pid}`)
  const dist = join(FOLDER, 'dist')
  mkdirSync(join(dist, 'platform/database/sqlite'), { recursive: true })
  for (const folder of shippedFolders) {
    mkdirSync(dirname(join(dist, folder)), { recursive: true })
    const link = join(dist, folder)
    if (existsSync(link)) continue
    // A link of a clone that has been moved since leads nowhere. This one is relative, so that it can be moved.
    rmSync(link, { force: true })
    symlinkSync(relative(dirname(link), join(ROOT, 'src', folder)), link)
  }
  for (const name of ['bin', 'package.json'])
    cpSync(join(ROOT, name), join(FOLDER, name), { recursive: true })
  await bundleService(draft)
  for (const file of COMPILED) renameSync(join(draft, file), join(dist, file))
  rmSync(draft, { recursive: true })
  return join(FOLDER, 'bin/farthing.js')
}
