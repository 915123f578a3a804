import { checkCurl } from '../recorder/curl.ts'
import type { Job } from './run.ts'

const EXCHANGES = 5_000
/** Commands in one script. */
const AT_ONCE = 500

export const job: Job = {
  title: 'hostile exchanges, sent again with their curl commands through sh',
  async run({ seed, scale }) {
    let [made, offered] = [0, 0]
    for (let part = 0; made < EXCHANGES * scale; part++) {
      const count = Math.min(AT_ONCE, EXCHANGES * scale - made)
      offered += await checkCurl(count, seed + part)
      made += count
    }
    return `${made} exchanges, ${offered} of them offered as curl`
  },
}
