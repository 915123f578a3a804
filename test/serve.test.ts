import assert from 'node:assert/strict'
import dns from 'node:dns'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { serve } from '../src/serve.ts'

type Answer = (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void

test('HOST=localhost is one address, also where the name has two, and stops like any other', async t => {
  // What Node and Fastify ask; of two addresses Fastify would open a server each.
  const { lookup } = dns
  const both = ['127.0.0.1', '127.0.0.2'].map(address => ({ address, family: 4 }))
  t.mock.method(dns, 'lookup', (...args: [string, dns.LookupAllOptions, Answer]) => {
    if (args[0] === 'localhost') args[2](null, both)
    else lookup(...args)
  })
  const config = readConfig({ HOST: 'localhost', PORT: '0', DATABASE_URL: 'sqlite::memory:' })
  const serving = await serve(config, pino({ level: 'silent' }), assert.ifError)
  const port = Number(new URL(serving.address).port)
  const reach = async (address: string) => {
    const socket = connect(port, address)
    await once(socket, 'connect')
    socket.destroy()
  }
  try {
    assert.equal(serving.address, `http://localhost:${port}`)
    await reach('127.0.0.1')
    await assert.rejects(reach('127.0.0.2'), { code: 'ECONNREFUSED' })
  } finally {
    await serving.stop()
  }
  await assert.rejects(reach('127.0.0.1'), { code: 'ECONNREFUSED' })
})
