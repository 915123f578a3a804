import { readdirSync, readFileSync } from 'node:fs'

/** Parts of the pages' files, which scripts/build-assets.ts made. */
export const IN_ASSETS = ['node_modules/govuk-frontend', 'node_modules/swagger-ui-dist']

/** The licences of the packages in these folders, which whoever gets a copy of the packages must receive with it. */
export function noticesOf(folders: string[]): string {
  const all = folders.map(folder => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
    const files = readdirSync(folder).filter(entry => /^(licen[cs]e|notice)/i.test(entry))
    const texts = files.map(file => readFileSync(`${folder}/${file}`, 'utf8').trim())
    return `${[`${name} ${version}, licence ${license}`, ...texts].join('\n\n')}\n`
  })
  return `Farthing contains the following packages.\n\n${all.join(`\n${'-'.repeat(80)}\n\n`)}`
}
