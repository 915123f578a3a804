import { ROOT, readShipped } from './files.ts'

export const version: string = JSON.parse(
  readShipped(new URL('../package.json', ROOT)).toString(),
).version
