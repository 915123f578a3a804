/** Clients of several languages after a reset of their connection: each reports it, and a retry meets 409. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startFarthing } from '../../src/testing/library.ts'
import type { Job } from './run.ts'

const run = promisify(execFile)
const FOLDER = join(import.meta.dirname, 'clients')

/** Milliseconds. A client that is still waiting then hangs. */
const PATIENCE = 30_000

/**
 * Programs that send the same POST twice, with FARTHING_URL, FARTHING_API_KEY and BODY in the environment. They print
 * `reset` or the status for each.
 */
const clients: Record<string, { command: string; args: string[] }> = {
  node: {
    command: 'node',
    args: [
      '--input-type=module',
      '-e',
      `const { FARTHING_URL, FARTHING_API_KEY, BODY } = process.env
       for (const _ of [1, 2])
         await fetch(FARTHING_URL + '/v1/payments', { method: 'POST', body: BODY, headers: {
           Authorization: 'Bearer ' + FARTHING_API_KEY, 'Content-Type': 'application/json', 'Idempotency-Key': 'node' } })
           .then(({ status }) => console.log(status), () => console.log('reset'))`,
    ],
  },
  python3: {
    command: 'python3',
    args: [
      '-c',
      `import os, urllib.request, urllib.error
e = os.environ
for _ in range(2):
    request = urllib.request.Request(e['FARTHING_URL'] + '/v1/payments', e['BODY'].encode(), {
        'Authorization': 'Bearer ' + e['FARTHING_API_KEY'], 'Content-Type': 'application/json',
        'Idempotency-Key': 'python3'}, method='POST')
    try: print(urllib.request.urlopen(request).status)
    except urllib.error.HTTPError as error: print(error.code)
    except OSError: print('reset')`,
    ],
  },
  ruby: {
    command: 'ruby',
    args: [
      '-rnet/http',
      '-e',
      `uri = URI(ENV['FARTHING_URL'] + '/v1/payments')
2.times do
  begin
    puts Net::HTTP.post(uri, ENV['BODY'], 'Authorization' => 'Bearer ' + ENV['FARTHING_API_KEY'],
      'Content-Type' => 'application/json', 'Idempotency-Key' => 'ruby').code
  rescue SystemCallError, EOFError
    puts 'reset'
  end
end`,
    ],
  },
  php: {
    command: 'php',
    args: [
      '-r',
      `for ($i = 0; $i < 2; $i++) { $http_response_header = null;
         @file_get_contents(getenv('FARTHING_URL') . '/v1/payments', false, stream_context_create(['http' => [
           'method' => 'POST', 'content' => getenv('BODY'), 'ignore_errors' => true, 'header' => [
           'Authorization: Bearer ' . getenv('FARTHING_API_KEY'), 'Content-Type: application/json',
           'Idempotency-Key: php']]])); echo $http_response_header ? substr($http_response_header[0], 9, 3) : 'reset', "\\n"; }`,
    ],
  },
  java: { command: 'java', args: [join(FOLDER, 'LostAnswer.java')] },
  go: { command: 'go', args: ['run', join(FOLDER, 'lost_answer.go')] },
}

const hasCommand = (command: string): Promise<boolean> =>
  run('sh', ['-c', `command -v ${command}`]).then(
    () => true,
    () => false,
  )

export const job: Job = {
  title: 'A lost answer and the retry, with clients of several languages',
  async run() {
    await using farthing = await startFarthing()
    const done: string[] = []
    for (const [name, { command, args }] of Object.entries(clients)) {
      if (!(await hasCommand(name))) {
        console.log(`${name} is left out: it is not installed on this machine`)
        continue
      }
      const account = await farthing.account()
      await account.plan({ on: 'createPayment', when: 'after', reset: true })
      const BODY = JSON.stringify({
        amount: 100,
        reference: name,
        description: 'A lost answer',
        return_url: 'https://service.example/',
      })
      const env = { ...process.env, FARTHING_URL: account.url, FARTHING_API_KEY: account.key, BODY }
      const { stdout } = await run(command, args, { env, timeout: PATIENCE })
      // A client may have repeated the request itself; then it sees the 409 twice.
      const seen = stdout.trim().split(/\s+/)
      const payments = (await account.send('GET', '/v1/payments')).body.total
      if (!['reset 409', '409 409'].includes(seen.join(' ')) || payments !== 1)
        throw new Error(`${name} saw ${seen.join(', ')}, and there are ${payments} payments`)
      const answered = (await account.requests({ operation: 'createPayment' })).map(
        each => each.answered,
      )
      if (answered[0] !== 'reset') throw new Error(`the record of ${name}: ${answered.join(', ')}`)
      done.push(`${name} (${seen.join(', then ')})`)
    }
    return done.join('; ')
  },
}
