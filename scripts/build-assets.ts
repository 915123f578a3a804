/**
 * Builds the files that the pages link to: a style sheet, a second one for the documentation, a script and an
 * icon. They go into src/web/assets/built/ under names that contain a hash of the content, with a manifest
 * that src/web/assets.ts reads. Runs as `npm run prepare`, which `npm ci` includes.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const source = new URL('../src/web/assets/', import.meta.url)
const built = new URL('built/', source)

/** The notice that the MIT licence asks for, at the top of both bundles. */
const notice =
  '/*! Contains parts of GOV.UK Frontend, MIT licence, github.com/alphagov/govuk-frontend */\n'

type Tools = { sass: typeof import('sass'); esbuild: typeof import('esbuild') }

/** Returns undefined if development dependencies were left out of the installation. */
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

/** Writes one file and returns its name. */
async function put(stem: string, extension: string, text: string): Promise<string> {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  const name = `${stem}-${hash}.${extension}`
  await writeFile(new URL(name, built), text)
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
  // The manifest is renamed into place after its files are written, so no reader sees half a build.
  const draft = new URL(`manifest.${process.pid}.draft`, built)
  await writeFile(draft, `${JSON.stringify(manifest, null, 2)}\n`)
  await rename(draft, new URL('manifest.json', built))
  await removeAllBut([...Object.values(manifest), 'manifest.json'])
}

/** Removes the files of earlier builds, so that a published package contains only files in use. */
async function removeAllBut(names: string[]): Promise<void> {
  for (const file of await readdir(built)) if (!names.includes(file)) await rm(new URL(file, built))
}

const tools = await loadTools()
if (tools) await build(tools)
else console.error('The page assets were not built, because sass and esbuild are not installed.')
