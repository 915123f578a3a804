/**
 * Builds what the pages link to: a style sheet and one more for the documentation, one script, one icon. Each goes into
 * src/web/assets/built/ under a name that holds a hash of its content, beside its Brotli and gzip
 * forms, with a manifest that src/web/assets.ts reads. Runs as `npm run prepare`, which `npm ci` includes.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const source = new URL('../src/web/assets/', import.meta.url)
const built = new URL('built/', source)

/** What both bundles owe to the people whose work they contain. */
const notice =
  '/*! Contains parts of GOV.UK Frontend, MIT licence, github.com/alphagov/govuk-frontend */\n'

type Tools = { sass: typeof import('sass'); esbuild: typeof import('esbuild') }

/** The build tools, or undefined where development dependencies were left out of the installation. */
async function loadTools(): Promise<Tools | undefined> {
  try {
    return { sass: await import('sass'), esbuild: await import('esbuild') }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return
    throw error
  }
}

function buildStyles({ sass }: Tools, entry: string): string {
  const { css } = sass.compile(fileURLToPath(new URL(entry, source)), {
    style: 'compressed',
    importers: [new sass.NodePackageImporter()],
  })
  return css
}

async function buildScript({ esbuild }: Tools): Promise<string> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [fileURLToPath(new URL('client.js', source))],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2020',
    legalComments: 'none',
  })
  return outputFiles[0]!.text
}

/** Writes one file and its two compressed forms; answers its name. */
async function put(stem: string, extension: string, text: string): Promise<string> {
  const body = Buffer.from(text)
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  const name = `${stem}-${hash}.${extension}`
  await writeFile(new URL(name, built), body)
  await writeFile(new URL(`${name}.br`, built), brotliCompressSync(body))
  await writeFile(new URL(`${name}.gz`, built), gzipSync(body, { level: 9 }))
  return name
}

async function build(tools: Tools): Promise<void> {
  await mkdir(built, { recursive: true })
  const manifest = {
    css: await put('app', 'css', notice + buildStyles(tools, 'app.scss')),
    docs: await put('docs', 'css', buildStyles(tools, 'docs.scss')),
    js: await put('app', 'js', notice + (await buildScript(tools))),
    icon: await put('icon', 'svg', (await readFile(new URL('icon.svg', source), 'utf8')).trim()),
  }
  // The manifest changes in one step and after the files it names, so no reader sees half a build.
  const draft = new URL(`manifest.${process.pid}.draft`, built)
  await writeFile(draft, `${JSON.stringify(manifest, null, 2)}\n`)
  await rename(draft, new URL('manifest.json', built))
  await removeAllBut([...Object.values(manifest), 'manifest.json'])
}

/** Removes what earlier builds left, so that a published package holds only what its pages use. */
async function removeAllBut(names: string[]): Promise<void> {
  for (const file of await readdir(built))
    if (!names.includes(file.replace(/\.(br|gz)$/, ''))) await rm(new URL(file, built))
}

const tools = await loadTools()
if (tools) await build(tools)
else console.error('The page assets were not built, because sass and esbuild are not installed.')
