/** Archives whose bytes depend on nothing but their content: every time is zero, and files belong to root. */

export type Entry = {
  /** Without a slash at its beginning; at most 100 bytes. */
  name: string
  content?: Uint8Array | string
  /** The target of a symbolic link; at most 100 bytes. */
  link?: string
  isFolder?: true
  mode?: number
  /** The number of the user and the group. */
  owner?: number
}

const BLOCK = 512

/** In the format ustar. */
export function tar(entries: Entry[]): Buffer {
  const blocks = entries.flatMap(entry => {
    const content = Buffer.from(entry.content ?? '')
    return [header(entry, content.length), content, Buffer.alloc(-content.length & (BLOCK - 1))]
  })
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)])
}

function header({ name, link = '', isFolder, mode, owner = 0 }: Entry, size: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  const path = isFolder ? `${name}/` : name
  for (const text of [path, link])
    if (Buffer.byteLength(text) > 100) throw new Error(`${text} is too long for an archive`)
  const octal = (value: number, at: number, length: number) =>
    block.write(value.toString(8).padStart(length - 1, '0'), at)
  block.write(path, 0)
  octal(mode ?? (link ? 0o777 : isFolder ? 0o755 : 0o644), 100, 8)
  octal(owner, 108, 8)
  octal(owner, 116, 8)
  octal(size, 124, 12)
  octal(0, 136, 12)
  block.fill(' ', 148, 156) // The sum counts its own field as spaces.
  block.write(link ? '2' : isFolder ? '5' : '0', 156)
  block.write(link, 157)
  block.write('ustar\u000000', 257)
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  return block
}
