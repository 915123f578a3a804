import type { FastifyReply, FastifyRequest } from 'fastify'
import { createPause } from '../../core/turns.ts'
import { JSON_TYPE } from './body.ts'

/** Stands for the list at first. No text of a response contains it. */
const PLACE = '\0'

/** The JSON of a body whose one list is an iterator. Makes it in slices, and counts its bytes to the request's turn. */
export async function longJson(body: unknown, { turn }: FastifyRequest, reply: FastifyReply) {
  let items: Iterable<unknown> | AsyncIterable<unknown> = []
  const around = JSON.stringify(body, (_, value) => {
    if (!isLazy(value)) return value
    items = value
    return PLACE
  })
  const [head = '', tail = ''] = around.split(JSON.stringify(PLACE))
  const pieces: Buffer[] = []
  let texts = [head, '[']
  const cut = () => {
    const piece = Buffer.from(texts.join(''))
    turn?.add(piece.length)
    pieces.push(piece)
    texts = []
  }
  const pause = createPause(cut)
  let comma = ''
  for await (const item of items) {
    texts.push(comma, JSON.stringify(item))
    comma = ','
    await pause()
  }
  texts.push(']', tail)
  cut()
  void reply.type(JSON_TYPE)
  const [only] = pieces
  return only && pieces.length === 1 ? only : Buffer.concat(pieces)
}

const isLazy = (value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> =>
  value instanceof Iterator ||
  (typeof value === 'object' && value !== null && Symbol.asyncIterator in value)
