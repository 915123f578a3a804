/**
 * The files that pages link to, as scripts/build-assets.ts built them. Each is read when it is first requested, and
 * then served from memory. A name contains a hash of the content, so browsers may cache a file without asking again.
 */
import { promisify } from 'node:util'
import { noSuchEndpoint } from '../../core/errors.ts'
import { ROOT, readShipped } from '../../core/files.ts'
import { onFirstUse } from '../../core/remember.ts'
import { type Endpoint, inArea, pathParam } from '../http/endpoint.ts'
import { header, pathParameter } from '../http/openapi.ts'

const contentTypes: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** File names, to be put behind `/assets/`. Those with `docs` are for /docs, those with `console` for the console. */
type Names = Record<
  'css' | 'js' | 'docsCss' | 'docsJs' | 'consoleCss' | 'consoleJs' | 'icon',
  string
>

/** Reads the manifest of a build. Throws an Error whose message says what to do if `folder` has none. */
export function readAssets(folder: URL) {
  let names: Names
  try {
    names = JSON.parse(readShipped(new URL('manifest.json', folder)).toString())
  } catch (cause) {
    throw new Error('The assets of the pages are not built: run `npm run build:assets`.', { cause })
  }
  const files = new Map(Object.values(names).map(name => [name, assetIn(folder, name)]))
  return { names, files }
}

function assetIn(folder: URL, name: string) {
  const contentType = contentTypes[name.split('.').pop() ?? '']
  if (!contentType) throw new Error(`The media type of the asset ${name} is not known.`)
  const plain = onFirstUse(async () => readShipped(new URL(name, folder)))
  const gzipped = onFirstUse(async () => {
    // Loaded for the first page: 1 ms of a start.
    const gzip = promisify(process.getBuiltinModule('node:zlib').gzip)
    return gzip(await plain(), { level: 9 })
  })
  return { contentType, plain, gzipped }
}

const { names, files } = readAssets(new URL('platform/web/assets/built/', ROOT))
export const assets = names

export const assetEndpoints = (): Endpoint[] => [
  {
    ...inArea('open')('GET', '/assets/{name}', 'readAsset', 'Read a file of the pages'),
    docs: () => ({
      description:
        'Names contain a hash of the content, so a file never changes and may be cached for a year.',
      parameters: [
        {
          ...pathParameter('name', 'As it is linked in a page'),
          schema: { type: 'string', examples: [assets.css] },
        },
      ],
      responses: {
        200: {
          description: 'The file, compressed with gzip if Accept-Encoding lists it',
          headers: {
            'Cache-Control': header('The file may be cached for a year', {
              const: 'public, max-age=31536000, immutable',
            }),
            ETag: header('It differs between the plain and the compressed file'),
          },
          content: {
            'text/css': { schema: { type: 'string' } },
            'text/javascript': { schema: { type: 'string' } },
            'image/svg+xml': { schema: { type: 'string' } },
          },
        },
        304: { description: 'If-None-Match contains the ETag of the file' },
      },
      errors: [noSuchEndpoint()],
    }),
    handler: async (request, reply) => {
      const name = pathParam(request, 'name')
      const asset = files.get(name)
      if (!asset) throw noSuchEndpoint()
      const gzipped = acceptsGzip(request.headers['accept-encoding'])
      // A strong ETag names the bytes, so each encoding has its own.
      const etag = gzipped ? `"${name}.gz"` : `"${name}"`
      void reply.headers({
        'content-type': asset.contentType,
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
        etag,
        ...(gzipped && { 'content-encoding': 'gzip' }),
      })
      if (isOneOf(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.send(await (gzipped ? asset.gzipped() : asset.plain()))
    },
  },
]

/**
 * True if Accept-Encoding lists gzip with any weight but zero (RFC 9110, section 12.5.3). Every browser lists
 * it. A client that only sends `*` gets the plain file, which it accepts too.
 */
export const acceptsGzip = (acceptEncoding = ''): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(acceptEncoding)

/** Compares weakly, because a proxy may have weakened the ETag (RFC 9110, section 13.1.2). */
export const isOneOf = (ifNoneMatch = '', etag: string): boolean =>
  ifNoneMatch
    .split(',')
    .map(tag => tag.trim().replace(/^W\//, ''))
    .some(tag => tag === etag || tag === '*')
