/** A simulated disk: it makes files as they may be after a power cut between two calls. */
import type { Random } from '../process/workload.ts'
import type { DiskEvent } from './trace.ts'

type Change = { offset: number; data: Buffer } | { length: number }
type File = { durable: Contents; pending: Change[] }

/** Bytes. A disk writes whole sectors, so writes are torn between them. */
const SECTOR = 512

/** `isKept` selects the files that are simulated. */
export function createDisk(isKept: (file: string) => boolean) {
  const files = new Map<string, File>()

  function fileOf(name: string): File {
    const file = files.get(name) ?? { durable: createContents(), pending: [] }
    files.set(name, file)
    return file
  }

  return {
    apply(event: DiskEvent): void {
      if (event.kind === 'told' || !isKept(event.file)) return
      if (event.kind === 'unlink') return void files.delete(event.file)
      const { durable, pending } = fileOf(event.file)
      if (event.kind === 'sync') for (const change of pending.splice(0)) durable.change(change)
      else pending.push(event)
    },
    /**
     * The files after a power cut: all synced data, and of the other writes nothing or a random part. Creating and
     * unlinking a file counts as durable at once.
     */
    image(keep: 'nothing' | 'some', random: Random): Map<string, Buffer> {
      const image = new Map<string, Buffer>()
      for (const [name, { durable, pending }] of files) {
        const contents = durable.copy()
        if (keep === 'some')
          for (const change of pending)
            for (const part of partsOf(change, random)) contents.change(part)
        image.set(name, contents.bytes())
      }
      return image
    },
  }
}

/** Nothing, the whole, or some sectors of a change. */
function partsOf(change: Change, random: Random): Change[] {
  const fate = random()
  if (fate < 0.4) return []
  if (fate < 0.8 || 'length' in change) return [change]
  const { offset, data } = change
  const parts: Change[] = []
  for (let at = 0; at < data.length; at += SECTOR)
    if (random() < 0.5) parts.push({ offset: offset + at, data: data.subarray(at, at + SECTOR) })
  return parts
}

type Contents = { change(change: Change): void; copy(): Contents; bytes(): Buffer }

/** A growing buffer. Bytes that were never written are zero. */
function createContents(buffer: Buffer = Buffer.alloc(0), size = 0): Contents {
  function grow(wanted: number): void {
    if (wanted > buffer.length) {
      const larger = Buffer.alloc(Math.max(wanted, buffer.length * 2, 65_536))
      buffer.copy(larger, 0, 0, size)
      buffer = larger
    }
    size = Math.max(size, wanted)
  }
  return {
    change(change) {
      if ('data' in change) {
        grow(change.offset + change.data.length)
        change.data.copy(buffer, change.offset)
        return
      }
      grow(change.length)
      buffer.fill(0, change.length, size)
      size = change.length
    },
    copy: () => createContents(Buffer.from(buffer.subarray(0, size)), size),
    bytes: () => buffer.subarray(0, size),
  }
}
