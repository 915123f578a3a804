import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../src/app/config.ts'
import { startFarthing } from '../src/testing/library.ts'

test('The variables of a service of Kubernetes are one warning, and no value of a setting', () => {
  const links = {
    FARTHING_PORT: 'tcp://10.0.0.1:3000',
    FARTHING_SERVICE_HOST: '10.0.0.1',
    FARTHING_SERVICE_PORT: '3000',
    FARTHING_SERVICE_PORT_HTTP: '3000',
    FARTHING_PORT_3000_TCP: 'tcp://10.0.0.1:3000',
    FARTHING_PORT_3000_TCP_PROTO: 'tcp',
    FARTHING_PORT_3000_TCP_PORT: '3000',
    FARTHING_PORT_3000_TCP_ADDR: '10.0.0.1',
    FARTHING_METRICS_PORT: 'tcp://10.0.0.2:9464',
  }
  const read = readConfig({ ...links, FARTHING_COLOUR: 'red' })
  assert.equal(read.metricsPort, undefined)
  assert.equal(read.warnings.length, 2)
  assert.match(
    read.warnings[0] ?? '',
    /^Kubernetes sets variables such as FARTHING_PORT to .* ignored 9: enableServiceLinks: false /,
  )
  assert.match(read.warnings[1] ?? '', /^FARTHING_COLOUR/)
  const port = readConfig({ PORT: 'tcp://10.0.0.1:80' })
  assert.deepEqual([port.port, port.warnings.length], [3000, 1])
  const [warning] = readConfig({ FARTHING_SERVICE_HOST: 'x' }).warnings
  assert.match(warning ?? '', /^FARTHING_SERVICE_HOST is not a Farthing setting/)
})

test('examples/kubernetes.yaml has settings, ports and paths that exist', async t => {
  const path = join(import.meta.dirname, '../examples/kubernetes.yaml')
  const documents = parseAllDocuments(readFileSync(path, 'utf8'))
  const [deployment, service] = documents.map(document => document.toJS())
  const { metadata, spec } = deployment.spec.template
  assert.deepEqual(service.spec.selector, metadata.labels)
  const [{ env, ports, ...container }] = spec.containers
  type Named = { name: string; value?: string; containerPort?: number }
  const values = env.map(({ name, value }: Named) => [name, value])
  const { port, metricsPort, warnings } = readConfig(Object.fromEntries(values))
  assert.deepEqual(warnings, [])
  const portOf = (wanted: string) => ports.find(({ name }: Named) => name === wanted)?.containerPort
  assert.equal(portOf('metrics'), metricsPort)
  assert.equal(portOf(service.spec.ports[0].targetPort), port)
  const farthing = await startFarthing()
  t.after(() => farthing.stop())
  for (const kind of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const { httpGet } = container[kind]
    assert.equal(portOf(httpGet.port), port, kind)
    assert.equal((await fetch(farthing.url + httpGet.path)).status, 200, kind)
  }
})

test('A parameter of DATABASE_URL that would have no effect is refused with the one to write', () => {
  for (const schema of ['schema', 'currentSchema', 'search_path'])
    assert.throws(() => readConfig({ DATABASE_URL: `postgres://u:secret@db/d?${schema}=a` }), {
      problems: [
        `DATABASE_URL must not have ${schema}, which has no effect: name the schema as in ?options=-c%20search_path%3Dfarthing`,
      ],
    })
  const DATABASE_URL = 'postgres://db/d?options=-c%20search_path%3Dfarthing'
  assert.deepEqual(readConfig({ DATABASE_URL }).database, { kind: 'postgres', url: DATABASE_URL })
  assert.throws(() => readConfig({ DATABASE_URL: 'sqlite:a.db?mode=memory' }), {
    problems: ['DATABASE_URL must name a file without parameters after a question mark'],
  })
})

test('Several keys are fixed as pairs of account and key, and a wrong pair is named by its place', () => {
  const FARTHING_API_KEY = 'a-key-of-the-default'
  const FARTHING_API_KEYS =
    ' licensing=key-of-licensing=1 , Council A = key-of-council-a, licensing=key-of-licensing=2 '
  assert.deepEqual(
    readConfig({ FARTHING_API_KEY, FARTHING_API_KEYS }).fixedKeys.map(each => [
      each.key_id,
      each.account,
      each.key,
    ]),
    [
      ['configured', 'default', FARTHING_API_KEY],
      ['configured1', 'licensing', 'key-of-licensing=1'],
      ['configured2', 'Council A', 'key-of-council-a'],
      ['configured3', 'licensing', 'key-of-licensing=2'],
    ],
  )
  const wrong = 'a=key-of-secret-11,secret,b=short,=key-of-secret-22,c=key of secret 33,'
  assert.throws(() => readConfig({ FARTHING_API_KEYS: wrong, PORT: 'x' }), {
    problems: [
      'PORT must be a whole number from 0 to 65535. It is "x"',
      'FARTHING_API_KEYS must be account=key pairs, separated by commas, each key 16 or more visible ASCII characters: see pairs 2, 3, 4, 5, 6',
    ],
  })
  assert.throws(
    () => readConfig({ FARTHING_API_KEY, FARTHING_API_KEYS: `a=${FARTHING_API_KEY}` }),
    {
      problems: [
        'FARTHING_API_KEYS must have another key for each account: that of default opens a second one',
      ],
    },
  )
})
