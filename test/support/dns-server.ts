/** A DNS server on loopback with A and AAAA records of given names. */
import dgram from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

const TYPE_A = 1
const NXDOMAIN = 3

/** The addresses of a name, and the record types for which no response is sent. */
type Zone = Record<string, { addresses?: string[]; silent?: 'A' | 'AAAA' | 'both' }>

export type DnsServer = Awaited<ReturnType<typeof startDnsServer>>

/** A name that is not in `zone` does not exist. */
export async function startDnsServer(zone: Zone) {
  const socket = dgram.createSocket('udp4')
  const questions: string[] = []
  socket.on('message', (query, from) => {
    const { name, type, end } = question(query)
    questions.push(name)
    const known = zone[name]
    if (known?.silent === (type === TYPE_A ? 'A' : 'AAAA') || known?.silent === 'both') return
    const addresses = (known?.addresses ?? []).filter(each => isIPv4(each) === (type === TYPE_A))
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (known ? 0 : NXDOMAIN), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    const records = addresses.map(address => record(type, address))
    const reply = Buffer.concat([header, query.subarray(12, end), ...records])
    socket.send(reply, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    server: `127.0.0.1:${socket.address().port}`,
    /** The names of all queries so far in lower case. A and AAAA are separate queries. */
    questions,
    close: () => socket.close(),
  }
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const name = labels.join('.').toLowerCase()
  return { name, type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** A resource record with a TTL of 0, whose name points at offset 12. */
function record(type: number, address: string): Buffer {
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray())
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([head, bytes])
}
