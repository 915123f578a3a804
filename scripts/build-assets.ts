/**
 * Builds the files to which the pages link: a style sheet and a script for all pages, two more for the viewer on /docs
 * and for the console, and an icon. Puts them into src/platform/web/assets/built/, with a hash of the content in each
 * name, and a manifest for src/platform/web/assets.ts. `npm ci` in a clone and `npm run build:assets` run this script.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import { compile, NodePackageImporter } from 'sass'

const source = new URL('../src/platform/web/assets/', import.meta.url)
const built = new URL('built/', source)

/** The notice that the MIT licence asks for. */
const notice =
  '/*! Contains parts of GOV.UK Frontend, MIT licence, github.com/alphagov/govuk-frontend */\n'

/** The source of Swagger UI and its notice, for the top of its script and style sheet. */
const viewerNotice = async (): Promise<string> =>
  `Contains Swagger UI, github.com/swagger-api/swagger-ui, Apache License 2.0\n\n${await readNotice('NOTICE')}`

/** The licence of Swagger UI, and the notices of the libraries in its script. */
const viewerLicences = async (): Promise<string> =>
  `${await readNotice('LICENSE')}\n${await readNotice('swagger-ui-es-bundle.js.LICENSE.txt')}`

/** Reads a file of swagger-ui-dist without the marks of comments, so that it can be part of one. */
async function readNotice(name: string): Promise<string> {
  const text = await readFile(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)), 'utf8')
  return text.replaceAll(/\/\*!?|\*\//g, '')
}

function buildStyles(entry: string): string {
  const { css } = compile(fileURLToPath(new URL(entry, source)), {
    style: 'compressed',
    // A byte order mark would come after the notice, and make the first rule invalid.
    charset: false,
    importers: [new NodePackageImporter()],
  })
  return css
}

async function buildScript(entry: string): Promise<string> {
  const { outputFiles } = await bundle({
    entryPoints: [fileURLToPath(new URL(entry, source))],
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

/** Removes the files of earlier builds, so that a published package contains only files in use. */
async function removeAllBut(names: string[]): Promise<void> {
  for (const file of await readdir(built)) if (!names.includes(file)) await rm(new URL(file, built))
}

await mkdir(built, { recursive: true })
const viewer = await viewerNotice()
const licences = await viewerLicences()
const manifest = {
  css: await put('app', 'css', notice + buildStyles('app.scss')),
  js: await put('app', 'js', notice + (await buildScript('client.js'))),
  docsCss: await put('docs', 'css', `/*!\n${viewer}*/\n${buildStyles('docs.scss')}`),
  docsJs: await put('docs', 'js', `/*!\n${viewer}\n${licences}*/\n${await buildScript('docs.js')}`),
  consoleCss: await put('console', 'css', notice + buildStyles('console.scss')),
  consoleJs: await put('console', 'js', notice + (await buildScript('console.js'))),
  icon: await put('icon', 'svg', (await readFile(new URL('icon.svg', source), 'utf8')).trim()),
}
// The manifest is renamed into place after its files are written, so no reader sees half a build.
const draft = new URL(`manifest.${process.pid}.draft`, built)
await writeFile(draft, `${JSON.stringify(manifest, null, 2)}\n`)
await rename(draft, new URL('manifest.json', built))
await removeAllBut([...Object.values(manifest), 'manifest.json'])
