import { ROOT, readShipped } from './files.ts'

/** The version of this package. */
export const version: string = JSON.parse(
  readShipped(new URL('../package.json', ROOT)).toString(),
).version
