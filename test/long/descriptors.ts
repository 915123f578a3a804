import { exhaustDescriptors } from '../faults/process/descriptors.ts'
import type { Job } from './run.ts'

const STARTS = 20

export const job: Job = {
  title: 'file descriptors used up while documents, assets and the console are first asked for',
  async run({ seed, scale }) {
    let refused = 0
    const starts = Math.ceil(STARTS * scale)
    for (let i = 0; i < starts; i++)
      refused += await exhaustDescriptors(64 + ((seed + 37 * i) % 200), i % 2 === 1)
    return `${starts} starts, ${refused} times 500 meanwhile, all served afterwards`
  },
}
