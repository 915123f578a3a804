/** Packs the clone twice, in two folders, and compares the bytes. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { tempFolder } from '../support/folders.ts'
import { pack } from '../support/packed.ts'
import type { Job } from './run.ts'

export const job: Job = {
  title: 'two builds of the package have the same bytes',
  async run() {
    const tarballs = [await pack(tempFolder()), await pack(tempFolder())]
    const [first, second] = tarballs.map(({ tarball }) => readFileSync(tarball))
    assert.ok(first?.equals(second ?? Buffer.alloc(0)))
    return `2 packages of ${Math.round((first?.length ?? 0) / 1000)} kB`
  },
}
