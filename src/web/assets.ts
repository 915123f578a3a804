/**
 * The files that the pages link to, as scripts/build-assets.ts built them. They are read once and
 * served from memory; a name holds a hash of its content, so a browser may keep the file for ever.
 */
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { noSuchEndpoint } from '../errors.ts'
import { pathParam, resource } from '../http/endpoint.ts'

/** One stored form of a file, with the headers that go with it. */
export type AssetAnswer = { body: Buffer; headers: Record<string, string> & { etag: string } }

const contentTypes = {
  css: 'text/css; charset=utf-8',
  docs: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  icon: 'image/svg+xml',
}

/** File names, to be put behind `/assets/`; `docs` is a second style sheet, of the pages that document the service. */
type Names = Record<keyof typeof contentTypes, string>

export type Assets = Names & {
  /**
   * The file with this name in the best form that `acceptEncoding` (the request's Accept-Encoding)
   * allows: Brotli, gzip, plain. Undefined for every name that no page links to.
   */
  file(name: string, acceptEncoding: string | undefined): AssetAnswer | undefined
}

type Encoding = 'br' | 'gzip' | 'identity'
type Forms = Record<Encoding, AssetAnswer>

const suffixes: Record<Encoding, string> = { br: '.br', gzip: '.gz', identity: '' }

/** Reads a build. Throws one sentence that says what to do when there is none in `folder`. */
export function readAssets(folder: URL): Assets {
  const names = readManifest(folder)
  const kinds = Object.keys(names) as (keyof Names)[] // written by scripts/build-assets.ts
  const files = new Map(
    kinds.map(kind => [names[kind], readForms(folder, names[kind], contentTypes[kind])]),
  )
  return {
    ...names,
    file: (name, acceptEncoding) => files.get(name)?.[preferredEncoding(acceptEncoding)],
  }
}

function readManifest(folder: URL): Names {
  try {
    return JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'))
  } catch (cause) {
    throw new Error('The assets of the hosted pages are not built: run `npm run prepare`.', {
      cause,
    })
  }
}

function readForms(folder: URL, name: string, contentType: string): Forms {
  const form = (encoding: Encoding): AssetAnswer => ({
    body: readFileSync(new URL(name + suffixes[encoding], folder)),
    headers: {
      'content-type': contentType,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      // Strong validators tell forms apart that differ in their bytes.
      etag: `"${name}${suffixes[encoding]}"`,
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    },
  })
  return { br: form('br'), gzip: form('gzip'), identity: form('identity') }
}

/** The best of our encodings that an Accept-Encoding header allows (RFC 9110, section 12.5.3). */
function preferredEncoding(acceptEncoding = ''): Encoding {
  const weights = new Map<string, number>()
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map(piece => piece.trim())
    const weight = parameters.find(parameter => parameter.startsWith('q='))
    weights.set(coding, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  const allowed = (coding: string) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0
  if (allowed('br')) return 'br'
  return allowed('gzip') ? 'gzip' : 'identity'
}

export const assets: Assets = readAssets(new URL('./assets/built/', import.meta.url))

export function assetRoutes(app: FastifyInstance): void {
  resource(app, '/assets/:name', {
    GET: {
      operation: 'readAsset',
      handler: async (request, reply) => {
        const { headers } = request
        const file = assets.file(pathParam(request, 'name'), headers['accept-encoding'])
        if (!file) throw noSuchEndpoint()
        void reply.headers(file.headers)
        const unchanged = isOneOf(headers['if-none-match'], file.headers.etag)
        return unchanged ? reply.code(304).send() : reply.send(file.body)
      },
    },
  })
}

/** Compares weakly, because a proxy may have weakened the ETag (RFC 9110, section 13.1.2). */
const isOneOf = (ifNoneMatch = '', etag: string): boolean =>
  ifNoneMatch
    .split(',')
    .map(tag => tag.trim().replace(/^W\//, ''))
    .some(tag => tag === etag || tag === '*')

/** Returns a function that calls `make` once and remembers the result. */
export function onFirstUse<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}
