/** C2, C8, C9, C12, C13: what the library and control cost when they are there. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { newFolder, removeFolder } from './folders.ts'
import { connect, type Work } from './load.ts'
import { type Bench, compare, type Figure, median, ratioFigure, round, warmUp } from './measure.ts'
import { loadLibrary, packagedLibrary } from './package.ts'
import { expect, newPayment, post } from './requests.ts'
import { KEY, type Server, startFarthing, timeOf } from './servers.ts'

const CONNECTIONS = 64
const ON = { FARTHING_CONTROL: 'true' }

export const controlCosts = async (bench: Bench): Promise<Figure[]> => [
  ...(await starts(bench)),
  ...(await switchedOn(bench)),
  ...(await weight(bench)),
]

/** C2: the library against the same start as a process. C12: how long a stop takes with idle connections. */
async function starts({ step }: Bench): Promise<Figure[]> {
  step('C2, C12: starting and stopping')
  const { startFarthing: startLibrary } = await loadLibrary()
  const [library, processes, bare, stops]: number[][] = [[], [], [], []]
  for (let i = 0; i < 9; i++) {
    const began = performance.now()
    const farthing = await startLibrary()
    await farthing.send('POST', '/v1/payments', newPayment())
    library?.push(performance.now() - began)
    const stopped = performance.now()
    await farthing.stop()
    stops?.push(performance.now() - stopped)
    const before = performance.now()
    const server = await startFarthing({ database: 'sqlite::memory:', env: ON })
    const { send, close } = await connect(server.port)
    expect(await send(post('/v1/payments', newPayment())), 201)
    processes?.push(performance.now() - before)
    close()
    await server.stop()
    bare?.push(await timeOf(['-e', '0']))
  }
  const value = median(library ?? [])
  const against = (floor: number, most: number, name: string) =>
    ratioFigure(
      'C2',
      { what: 'startFarthing() to the first 201', ratio: value / floor, most },
      { value, floor, unit: 'ms', against: name },
    )
  const stop = median(stops ?? [])
  return [
    against(median(processes ?? []), 1, 'the same as a process'),
    against(median(bare ?? []), 4, 'node -e 0'),
    {
      figure: 'C12',
      what: 'stop() with idle connections',
      value: round(stop),
      unit: 'ms',
      target: '<= 50 ms',
      met: stop <= 50,
    },
  ]
}

/** C8: control on. C9: 100 plans that do not match. */
async function switchedOn({ scale, step }: Bench): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [where, least] of [
    ['in memory', 0.7],
    ['in a file', 0.5],
  ] as const) {
    step(`C8, C9: creations with control on, ${where}`)
    const folder = newFolder()
    const start = (name: string, env: Record<string, string>) =>
      startFarthing({
        database:
          where === 'in memory' ? 'sqlite::memory:' : `sqlite:${join(folder, `${name}.db`)}`,
        env,
      })
    const off = await start('off', {})
    const on = await start('on', ON)
    const [plain, planned] = [await testAccount(on), await testAccount(on)]
    const never = { on: 'createPayment', given: { amount: 1 }, answer: { status: 503 } }
    const { send, close } = await connect(on.port)
    for (let i = 0; i < 100; i++)
      expect(await send(withKey(post('/control/plans', never), planned)), 201)
    close()
    const contenders = [
      { server: off, work: creatingWith(KEY) },
      { server: on, work: creatingWith(plain) },
      { server: on, work: creatingWith(planned) },
    ]
    for (const each of contenders) await warmUp(each, 20_000 * scale)
    const { series, ratios } = await compare(contenders, {
      connections: CONNECTIONS,
      seconds: scale / 2,
    })
    const [offRate = 0, onRate = 0, plannedRate = 0] = series.map(({ rate }) => rate)
    const against = (floor: number, name: string, value: number) => ({
      value,
      floor,
      unit: 'a second',
      against: name,
    })
    figures.push(
      ratioFigure(
        'C8',
        { what: `creations of a test account, ${where}`, ratio: ratios[1] ?? 0, least },
        against(offRate, 'control off', onRate),
      ),
      ratioFigure(
        'C9',
        { what: `100 plans that do not match, ${where}`, ratio: plannedRate / onRate, least: 0.9 },
        against(onRate, 'no plans', plannedRate),
      ),
    )
    for (const server of [off, on]) await server.stop()
    removeFolder(folder)
  }
  return figures
}

const withKey = (request: string, key: string): string => {
  const [head = '', ...body] = request.split('\r\n\r\n')
  return [head.replace(KEY, key), ...body].join('\r\n\r\n')
}

async function testAccount({ port }: Server): Promise<string> {
  const { send, close } = await connect(port)
  const made = await send(post('/control/accounts'))
  expect(made, 201)
  close()
  return JSON.parse(made.body).key
}

const creatingWith =
  (key: string): Work =>
  async send =>
    expect(await send(withKey(post('/v1/payments', newPayment()), key)), 201)

/** C13: what the library weighs. */
async function weight({ step }: Bench): Promise<Figure[]> {
  step('C13: the weight of the library')
  const installed = packagedLibrary()
  const load = (url: string) =>
    timeOf(['--input-type=module', '-e', `import ${JSON.stringify(url)}`])
  const times: number[][] = [[], []]
  for (let i = 0; i < 20; i++) {
    times[0]?.push(await load('data:text/javascript,'))
    times[1]?.push(await load(installed.href))
  }
  const files = readdirSync(new URL('./', installed)).map(name => new URL(name, installed))
  const packed = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length / 1024, 0)
  const [empty = 0, library = 0] = times.map(median)
  return [
    {
      figure: 'C13',
      what: 'the files of the library, packed',
      value: round(packed),
      unit: 'KB',
      target: '<= 60 KB',
      met: packed <= 60,
    },
    ratioFigure(
      'C13',
      { what: "import 'farthing/testing'", ratio: library / empty, most: 1.5 },
      { value: library, floor: empty, unit: 'ms', against: 'an empty module' },
    ),
  ]
}
