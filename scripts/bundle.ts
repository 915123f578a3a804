/** Bundles a source and all that it imports into one file, because each file that a start loads costs it time. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type BuildOptions, build } from 'esbuild'

/** Of `src/`: their files are read while the service runs, and go with the code. */
export const shippedFolders = [
  'app/docs/examples',
  'platform/database/migrations',
  'platform/web/assets/built',
]

/** The threads that a service starts, in the bundle. */
export const threadFiles = ['platform/database/sqlite/thread.cjs', 'platform/outbound/thread.cjs']

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
 * Fastify requires these and never uses them here: TLS, HTTP/2, the versions of plugins, addresses of proxies, compilers
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

/** find-my-way asks whether its own expressions take long, in each start. No route here has one: 2 % of a start. */
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
 * esbuild escapes other characters in strings, but not in tagged templates. With one left V8 would keep the whole text in
 * two bytes a character: P7, P8.
 */
const inAscii = (code: string): string =>
  code.replaceAll(
    /[^\0-\x7f]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Makes the service with its commands, and its threads, in `folder`. Returns what `bundle` does. */
export async function bundleService(folder: string): Promise<string[]> {
  const threads = threadFiles.map(file => file.replace('.cjs', ''))
  const made = [['cli/main', 'farthing'], ...threads.map(name => [name, name])].map(
    ([source, file]) =>
      bundle(`src/${source}.ts`, {
        ...commonjs,
        target: 'node24',
        alias: {
          ...SAFE,
          ...Object.fromEntries(UNUSED.map(name => [name, './scripts/unused.cjs'])),
        },
        outfile: `${folder}/${file}.cjs`,
      }),
  )
  return (await Promise.all(made)).flat()
}
