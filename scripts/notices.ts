import { readdirSync, readFileSync } from 'node:fs'

/** Packages of which parts are in the pages' files, which scripts/build-assets.ts makes. */
export const IN_ASSETS = ['node_modules/govuk-frontend', 'node_modules/swagger-ui-dist']

const read = (path: string): string => readFileSync(path, 'utf8').trim()

/** The licences of the packages in these folders. Everybody who gets a copy of the packages must get these too. */
export function noticesOf(folders: string[]): string {
  const all = folders.map(folder => {
    const manifest = JSON.parse(read(`${folder}/package.json`))
    const { name, version, license } = manifest
    const files = readdirSync(folder).filter(entry => /^(licen[cs]e|notice)/i.test(entry))
    const texts = files.map(file => read(`${folder}/${file}`))
    if (texts.length === 0) texts.push(inReadme(folder) ?? standard(manifest))
    return `${[`${name} ${version}, licence ${license}`, ...texts].join('\n\n')}\n`
  })
  return `Farthing contains the following packages.\n\n${all.join(`\n${'-'.repeat(80)}\n\n`)}`
}

/** The section of the README about the licence, if it is the text of a licence. */
function inReadme(folder: string): string | undefined {
  const [readme] = readdirSync(folder).filter(entry => /^readme/i.test(entry))
  const section =
    readme &&
    read(`${folder}/${readme}`)
      .split(/^#+ *licen[cs]e *$/im)[1]
      ?.trim()
  return section && /permission is hereby granted/i.test(section) ? section : undefined
}

/** For a package that has only the name of its licence. The text of the MIT licence is that of Farthing's own. */
function standard({ name, license, author }: Record<string, string | { name: string }>): string {
  const text = read('LICENSE')
    .split(/^Copyright.*$/m)[1]
    ?.trim()
  if (license !== 'MIT' || !author || !text)
    throw new Error(`there is no text of the licence of ${name}`)
  const holder = typeof author === 'string' ? author : author.name
  return `MIT License\n\nCopyright (c) ${holder}\n\n${text}`
}
