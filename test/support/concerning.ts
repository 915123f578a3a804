/** Chooses the tests that concern a change, for `npm test -- --changed`. */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** A file that more test files import than this concerns the complete run. */
const MANY = 15

/**
 * The tests for a path, as far as they take seconds. The first row that fits a path counts. A test file stands for
 * itself, and another file of the tests for the test files that import it.
 */
export const CONCERNS: [path: string, tests: string][] = [
  ['src/core/', 'test/{domain/*,config,settings,log}.test.ts'],
  ['src/platform/accounts/', 'test/contract/{accounts/*,http/bearer}.test.ts'],
  ['src/platform/database/', 'test/database/*.test.ts'],
  ['src/platform/http/', 'test/contract/http/*.test.ts'],
  ['src/platform/metrics/', 'test/metrics/*.test.ts'],
  ['src/platform/outbound/', 'test/webhooks/*.test.ts'],
  ['src/platform/web/', 'test/hosted/*.test.ts'],
  ['src/pay/agreements/', 'test/contract/agreements/*.test.ts'],
  ['src/pay/disputes/', 'test/contract/disputes/*.test.ts'],
  ['src/pay/hosted/', 'test/{hosted,contract/hosted}/*.test.ts'],
  ['src/pay/payments/', 'test/{domain,contract/payments,contract/authorise}/*.test.ts'],
  ['src/pay/refunds/', 'test/contract/refunds/*.test.ts'],
  ['src/pay/webhooks/', 'test/contract/webhooks/*.test.ts'],
  ['src/pay/', 'test/{domain,contract/retention}/*.test.ts'],
  ['src/tools/console/', 'test/contract/console/*.test.ts'],
  ['src/tools/control/', 'test/contract/control/*.test.ts'],
  [
    'src/tools/deliver/',
    'test/contract/{check/ask,console/{deliveries,webhooks},control/listeners}.test.ts',
  ],
  [
    'src/tools/explain/signature/',
    'test/{signature/*,cli/service-commands,contract/console/signature}.test.ts',
  ],
  ['src/tools/explain/', 'test/contract/check/*.test.ts'],
  ['src/tools/lists/', 'test/contract/console/{deliveries,payments,webhooks}.test.ts'],
  ['src/tools/plans/', 'test/contract/control/{faults,plan*,scenario*}.test.ts'],
  ['src/tools/steer/', 'test/contract/control/*.test.ts'],
  ['src/tools/record/', 'test/{recorder,contract/recorder}/*.test.ts'],
  ['src/tools/', 'test/contract/{console/requests,control/reading}.test.ts'],
  ['src/app/docs/', 'test/contract/{documentation,openapi*}.test.ts'],
  ['src/app/', 'test/{config,settings,log,start*}.test.ts'],
  ['src/cli/', 'test/{command-line,cli/{doctor,listen*,ready,service-commands}}.test.ts'],
  ['src/testing/', 'test/testing/{connection,library,options,receiver}.test.ts'],
  ['bin/', 'test/{command-line,installation}.test.ts'],
  ['scripts/', 'test/package.test.ts'],
  ['examples/', 'test/testing/language*.test.ts'],
  ['docs/', 'test/{documents,cli/documentation}.test.ts'],
  ['', 'test/{documents,tidy}.test.ts'],
]

/** The paths of new files and of files that differ from where this branch left main, in the repository at `cwd`. */
export function changedFiles(cwd = '.'): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .trim()
      .split('\n')
      .filter(Boolean)
  const [base = 'HEAD'] = git(
    'for-each-ref',
    '--format=%(refname)',
    'refs/heads/main',
    'refs/remotes/origin/main',
  )
    .slice(0, 1)
    .flatMap(main => git('merge-base', 'HEAD', main))
  return [
    ...git('diff', '--name-only', '--no-renames', base),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]
}

export function testsConcerning(paths: string[]): string[] {
  const every = globSync('test/**/*.test.ts')
  const found = new Set<string>()
  for (const path of paths) for (const file of concerning(path, every)) found.add(file)
  return [...found].sort()
}

function concerning(path: string, every: string[]): string[] {
  if (every.includes(path)) return [path]
  if (path.startsWith('test/')) {
    const line = new RegExp(`(from|import) '[^']*/${basename(path)}'`)
    const users = every.filter(file => line.test(readFileSync(file, 'utf8')))
    return users.length > MANY ? [] : users
  }
  const [, tests = ''] = CONCERNS.find(([start]) => path.startsWith(start)) ?? []
  return globSync(tests)
}
