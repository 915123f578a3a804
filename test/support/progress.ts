/** Imported first into each process of tests: it notes the progress of the tests for hangs.ts. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, type SuiteContext, type TestContext } from 'node:test'

const FOLDER = process.env.FARTHING_TEST_PROGRESS

if (FOLDER) {
  const file = join(FOLDER, String(process.pid))
  const note = (where: string) => (test: TestContext | SuiteContext) =>
    writeFileSync(file, `${where} "${test.fullName}" of ${test.filePath}`)
  writeFileSync(file, 'before its first test')
  process.on('exit', () => rmSync(file, { force: true }))
  beforeEach(note('at the test'))
  afterEach(note('after the test'))
}
