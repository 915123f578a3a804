/** The examples in other languages, each in a copy of its folder, with the commands that run them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { tempFolder } from './folders.ts'
import { collect } from './process.ts'
import { signalGroup } from './process-tree.ts'

export const EXAMPLES = join(import.meta.dirname, '../../examples')

export type Language = {
  name: string
  folder: string
  /** Commands that end with 0 where the language and its test framework are installed. */
  needs: string[]
  /** Run once in a copy, before anything else. */
  prepare?: string[]
  tests: string[]
  /** The file that has an assertion of P0603. */
  testFile: string
  receiver(port: number): string[]
  /** PHP has no start at which it could refuse a missing key. */
  refusesEachRequest?: true
}

/** The folder of jars: that of Debian, or the folder to which Maven copies. */
const JARS = process.env.FARTHING_TEST_JARS ?? '/usr/share/java'
const JUNIT = join(JARS, 'junit-platform-console-standalone.jar')
const jackson = ['databind', 'core', 'annotations'].map(part => join(JARS, `jackson-${part}.jar`))
const classPath = [JUNIT, ...jackson].join(':')
const LAUNCHER = 'org.junit.platform.console.ConsoleLauncher'
/** With these options a start takes half the processor time. */
const FAST = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']
const java = ['java', ...FAST, '-cp', `${classPath}:.`]
const javac = ['javac', ...FAST.map(option => `-J${option}`), '-Xlint:all', '-Werror']

export const languages: Language[] = [
  {
    name: 'Python',
    folder: 'python',
    needs: ['python3 -m pytest --version'],
    tests: ['python3', '-m', 'pytest', '-q'],
    testFile: 'test_payments.py',
    receiver: port => ['python3', 'receiver.py', `${port}`],
  },
  {
    name: 'Ruby',
    folder: 'ruby',
    needs: ['rspec --version', 'puma --version'],
    tests: ['rspec'],
    testFile: 'spec/payments_spec.rb',
    receiver: port => ['puma', '--bind', `tcp://127.0.0.1:${port}`],
  },
  {
    name: 'Java',
    folder: 'java',
    needs: ['javac --release 17 --version', `test -f ${JUNIT} -a -f ${jackson[0]}`],
    prepare: ['sh', '-c', `${javac.join(' ')} -cp ${classPath} -d . src/*/java/*.java`],
    tests: [...java, ...`${LAUNCHER} --scan-classpath . --fail-if-no-tests`.split(' ')],
    testFile: 'src/test/java/PaymentsTest.java',
    receiver: port => [...java, 'Receiver', `${port}`],
  },
  {
    name: 'PHP',
    folder: 'php',
    needs: ['phpunit --version'],
    tests: ['phpunit', '--bootstrap', 'tests/Farthing.php', 'tests'],
    testFile: 'tests/PaymentsTest.php',
    receiver: port => ['php', '-S', `127.0.0.1:${port}`, 'public/webhooks.php'],
    refusesEachRequest: true,
  },
  {
    name: 'Go',
    folder: 'go',
    needs: ['go version'],
    prepare: ['sh', '-c', 'go vet . && go build -o receiver'],
    tests: ['go', 'test', '-count=1'],
    testFile: 'payments_test.go',
    receiver: port => ['./receiver', `${port}`],
  },
  {
    name: 'C#',
    folder: 'csharp',
    needs: ['dotnet --version'],
    prepare: ['dotnet', 'build', '--disable-build-servers', 'Payments.Tests'],
    tests: ['dotnet', 'test', '--no-build', 'Payments.Tests'],
    testFile: 'Payments.Tests/PaymentsTests.cs',
    receiver: port =>
      `dotnet run --no-build --project Payments --urls http://127.0.0.1:${port}`.split(' '),
  },
]

const prepared = new Map<Language, Promise<string>>()

/** A copy of the folder of the language, ready to run. All tests share it. */
export function copyOf(language: Language): Promise<string> {
  const found = prepared.get(language) ?? changedCopyOf(language)
  prepared.set(language, found)
  return found
}

/** A copy for one test, ready to run. `edit` changes the file with the tests. */
export async function changedCopyOf(
  { folder, testFile, prepare }: Language,
  edit?: (text: string) => string,
): Promise<string> {
  const copy = join(tempFolder(), folder)
  cpSync(join(EXAMPLES, folder), copy, { recursive: true })
  const file = join(copy, testFile)
  if (edit) writeFileSync(file, edit(readFileSync(file, 'utf8')))
  if (prepare) {
    const { code, output } = await run(prepare, copy, {})
    if (code !== 0) throw new Error(`${prepare.join(' ')}:\n${output}`)
  }
  return copy
}

/** Milliseconds after which a command is ended, and after which the processes that it started must be gone. */
const LONGEST = 300_000
const LONGEST_LEFT = 30_000

type Ran = { code: number | null; output: string; processesAreLeft: boolean }

/** The examples need no plugins of the machine, which take pytest a second to load. */
const PYTHON = { PYTHONDONTWRITEBYTECODE: '1', PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1' }

/** Starts a command in a process group of its own, with this environment beside PATH and HOME. */
export function start([command = '', ...args]: string[], cwd: string, env: NodeJS.ProcessEnv) {
  const { PATH, HOME, JAVA_HOME, GOCACHE, DOTNET_ROOT } = process.env
  const machine = { PATH, HOME, JAVA_HOME, GOCACHE, DOTNET_ROOT }
  const child = spawn(command, args, {
    cwd,
    env: { ...machine, ...PYTHON, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const { written } = collect(child)
  return { child, output: () => written.both, exited: once(child, 'exit') }
}

export async function run(command: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  const { child, output, exited } = start(command, cwd, env)
  const closed = new Promise(resolve => child.once('close', resolve))
  const late = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), LONGEST)
  const [code] = await exited.finally(() => clearTimeout(late))
  const end = Date.now() + LONGEST_LEFT
  while (signalGroup(child.pid, 0) && Date.now() < end) await pause(20)
  const processesAreLeft = signalGroup(child.pid, 'SIGKILL')
  await closed // until then a part of the output may not have been read
  return { code, output: output(), processesAreLeft }
}

/** The missing command of each language that is not installed. Found once for all tests of a process. */
const missing = new Map<Language, string>()
await Promise.all(
  languages.map(async language => {
    for (const command of language.needs) {
      const found = await run(command.split(' '), EXAMPLES, {}).catch(() => undefined)
      if (found?.code !== 0) missing.set(language, command)
    }
  }),
)

/** false, or the reason for skipping the tests of the language. */
export const isMissing = (language: Language): string | false => {
  const command = missing.get(language)
  return command ? `not run: ${language.name} needs ${command}` : false
}
