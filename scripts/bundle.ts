/** Bundles a source and all that it imports into one file, because each further file makes a start slower. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type BuildOptions, build } from 'esbuild'

/** Folders of `src/` whose files the service reads while it runs, so that they must be beside the code. */
export const shippedFolders = [
  'app/docs/examples',
  'platform/database/migrations',
  'platform/web/assets/built',
]

/** Names stay as they are, for the stack traces in a log. */
export const common: BuildOptions = {
  bundle: true,
  platform: 'node',
  legalComments: 'none',
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 200,
}
/**
 * Modules that Fastify requires but never uses here: TLS, HTTP/2, versions of plugins, addresses of proxies, compilers
 * of schemas (src/platform/http/fastify.ts) and requests without a connection. Without them a start takes 5 % less: P7.
 */
const UNUSED = [
  'node:https',
  'node:http2',
  'semver',
  '@fastify/proxy-addr',
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
]

/** At each start find-my-way checks its own regular expressions. No route here has one: 2 % of a start. */
const SAFE = { 'safe-regex2': './scripts/safe.cjs' }

export const commonjs: BuildOptions = {
  ...common,
  format: 'cjs',
  define: { 'import.meta.url': 'moduleUrl' },
  banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href" },
}

/** Makes the file `outfile`. Returns the folders of the packages that it contains. */
export async function bundle(
  source: string,
  options: BuildOptions & { outfile: string },
): Promise<string[]> {
  const { metafile } = await build({ ...options, entryPoints: [source], metafile: true })
  writeFileSync(options.outfile, inAscii(readFileSync(options.outfile, 'utf8')))
  return Object.keys(metafile.inputs)
    .map(input => /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0])
    .filter(found => found !== undefined)
}

/**
 * esbuild escapes characters outside ASCII in strings, but not in tagged templates. One such character would make V8
 * keep the whole text with two bytes for each: P7, P8.
 */
const inAscii = (code: string): string =>
  code.replaceAll(
    /[^\0-\x7f]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Bundles the service with its commands, and the thread that writes to SQLite, in `folder`. Returns as `bundle`. */
export async function bundleService(folder: string): Promise<string[]> {
  const made = [
    ['cli/main', 'farthing'],
    ['platform/database/sqlite/thread', 'platform/database/sqlite/thread'],
  ].map(([source, file]) =>
    bundle(`src/${source}.ts`, {
      ...commonjs,
      target: 'node24',
      alias: { ...SAFE, ...Object.fromEntries(UNUSED.map(name => [name, './scripts/unused.cjs'])) },
      outfile: `${folder}/${file}.cjs`,
    }),
  )
  return (await Promise.all(made)).flat()
}
