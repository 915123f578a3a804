/** The first byte in which the body differs from that of the message, with up to 8 bytes before and after it. */
export type Difference = { offset: number; sent: Excerpt; given: Excerpt }
type Excerpt = { hex: string; text: string }

const AROUND = 8

/** Bodies that differ have a first byte in which they do, which may be the end of one. */
export function differenceOf(sent: Buffer, given: Buffer): Difference {
  let offset = 0
  while (offset < sent.length && sent[offset] === given[offset]) offset += 1
  const excerpt = (bytes: Buffer): Excerpt => {
    const part = bytes.subarray(Math.max(0, offset - AROUND), offset + AROUND)
    return { hex: part.toString('hex').replace(/..(?=.)/g, '$& '), text: part.toString('utf8') }
  }
  return { offset, sent: excerpt(sent), given: excerpt(given) }
}
