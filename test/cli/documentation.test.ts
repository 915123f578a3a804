import assert from 'node:assert/strict'
import { dirname, join, relative } from 'node:path'
import { snapshot, test } from 'node:test'
import { shellWord } from '../../src/core/invocation.ts'
import { runHere } from '../support/command.ts'
import { tempFolder } from '../support/folders.ts'
import { COMMAND, programOf, startProcess } from '../support/process.ts'
import { runLines, shellBlocks } from '../support/recipe.ts'

const folder = tempFolder()

// In a complete run several files share a process, so the default path would be that of another file.
snapshot.setResolveSnapshotPath(() => `${import.meta.filename}.snapshot`)

/** Runs a command that does not end by itself, until it is ready, and then interrupts it as Ctrl-C does. */
const UNTIL_READY = `
until_ready() {
  : > ready
  "$@" >> ready & local pid=$!
  while kill -0 $pid && ! grep -q '^Signing key' ready; do sleep 0.1; done
  kill -INT $pid
  wait $pid
  cat ready
}
`

/** Writes the body that the receiver of the message reads into the file that the example names. */
const READ_BODY = `
curl -s "http://127.0.0.1:3000/control/messages?message_id=$MESSAGE_ID" -H "Authorization: Bearer $FARTHING_API_KEY" |
  jq -j '.results[0].raw' > body-as-read.bin`

test('docs/cli.md: every example runs, in order, as one session', async t => {
  const PATH = `${dirname(programOf())}:${process.env.PATH}`
  const env = { DATABASE_URL: `sqlite:${join(folder, 'farthing.db')}` }
  const running = await startProcess({ env: { ...env, FARTHING_API_KEY: 'my-first-farthing-key' } })
  t.after(() => running.kill())
  const blocks = shellBlocks('docs/cli.md')
  const listen = 'farthing listen --forward-to'
  const verify = 'farthing verify --message'
  const lines =
    UNTIL_READY +
    blocks
      .join('\n')
      .replace(listen, `until_ready ${listen}`)
      .replace(verify, `${READ_BODY}\n${verify}`)
  const port = Number(new URL(running.baseUrl).port)
  const terminal = { cwd: folder, port, env: { ...env, PATH } }
  const { code, stdout, stderr } = await runLines(lines, terminal)
  assert.equal(code, 0, `${stdout}\n${stderr}`)
  // The session has an agreement, so the check says to ask GOV.UK Pay's support before going live.
  assert.match(stderr, /^http:\S+\/console\/check has all rules\. --ignore leaves some out\.\n$/)
  for (const says of [
    /^Ready\. Forwarding to http:\/\/localhost:4000\/webhooks as ".+"\nSigning key: webhook_test_/,
    / {2}R-7 {2}£14\.50 {3}created › started › failed P0010/,
    /£25\.00 {3}created › started › submitted › capturable › success › refunded £5\.00/,
    / {3}card_payment_refunded {3}nobody is listening\n/,
    /\nNo known mistake: the body is right\.\nIt matches: these bytes, /,
    /nobody is listening {2}0 ms\nNobody was listening: .*\nrefused again\n/,
    / POST \/v1\/payments → 201 /,
    /\nok {4}pages /,
    /\n\{"url":"http:\/\/127\.0\.0\.1:\d+\/console\/enter\?code=/,
  ])
    assert.match(stdout, says)
})

test('The help of each command has its examples first, and fits a terminal', async t => {
  const { stdout: list } = await runHere({ args: ['--help'] })
  assert.ok(list.split('\n').every(line => line.length <= 80))
  const listed = [...list.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(([, name = '']) => name)
  const names = [...listed, 'keys create', 'keys list', 'keys revoke', 'completion']
  assert.ok(listed.length > 10)
  for (const name of names) {
    const { code, stdout } = await runHere({ args: [...name.split(' '), '--help'] })
    assert.equal(code, 0)
    t.assert.snapshot(stdout, { serializers: [text => text] })
    assert.match(
      stdout,
      new RegExp(
        `^Usage: farthing ${name} .*\\n\\n[A-Z].*\\n\\n( {2}.*farthing ${name}.*\\n)+\\n(Arguments|Options):`,
        's',
      ),
    )
    if (name !== 'completion') assert.match(stdout, /--json +print JSON/)
    assert.doesNotMatch(stdout, /docs\/\S+\.md/, 'the package has no such file')
    assert.ok(
      stdout.split('\n').every(line => line.length <= 80),
      'it fits a terminal',
    )
  }
})

test('The examples of a help stand on one line each, however the command is typed', async () => {
  const path = join(import.meta.dirname, '../../bin/farthing.js')
  const { stdout } = await runLines(`'${process.execPath}' '${path}' listen --help`, {
    cwd: folder,
    port: 1,
  })
  const typed = `node ${shellWord(relative(folder, path))}`
  assert.ok(
    stdout.includes(`\n  ${typed} listen --forward-to http://localhost:4000/webhooks\n`),
    stdout,
  )
})

test('The bash completion offers commands, options, values and names of files, without the package bash-completion', async () => {
  const script = `
    set +e
    farthing() { '${process.execPath}' '${COMMAND}' "$@"; }
    source <(farthing completion bash)
    complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); __farthing_complete 2>/dev/null; echo "\${COMPREPLY[@]}"; }
    complete_line farthing ''
    complete_line farthing pay --ref
    complete_line farthing listen --events card_payment_c
    complete -p farthing`
  const { code, stdout } = await runLines(script, { cwd: folder, port: 1 })
  assert.equal(code, 0)
  const [commands, ...rest] = stdout.split('\n')
  assert.match(commands ?? '', /^serve pay trigger listen logs [a-z ]+ help$/)
  assert.deepEqual(rest, [
    '--reference --refund',
    'card_payment_captured card_payment_cancelled',
    'complete -o default -F __farthing_complete farthing',
    '',
  ])
})
