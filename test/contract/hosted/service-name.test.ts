import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elementsOf, only, tagged } from '../../hosted/document.ts'
import { onOneDatabase } from '../../support/service.ts'

const FARTHING_SERVICE_NAME = "Rowan's <b>market</b> & more"

onOneDatabase(
  'Hosted pages: FARTHING_SERVICE_NAME',
  service => {
    /** The title and header of the page that `path` shows. */
    async function shownAt(path: string): Promise<{ title: string; header: string }> {
      const elements = elementsOf((await service().anonymous.get(path)).text)
      const header = only(elements, tagged('header')).text
      return { title: only(elements, tagged('title')).text, header }
    }

    test('the header and the title of a page in English and in Welsh have the name, escaped', async () => {
      const api = await service().newAccount()
      for (const language of ['en', 'cy']) {
        const { _links } = await api.createPayment({ language })
        const { title, header } = await shownAt(_links.next_url.href)
        assert.ok(title.endsWith(` - ${FARTHING_SERVICE_NAME}`), title)
        assert.ok(header.includes(FARTHING_SERVICE_NAME), header)
        assert.doesNotMatch(header, /Farthing/)
      }
    })

    test('an error page shows FARTHING_SERVICE_NAME', async () => {
      const { title } = await shownAt('/secure/none')
      assert.equal(title, `Page not found - ${FARTHING_SERVICE_NAME}`)
    })
  },
  { env: { FARTHING_SERVICE_NAME } },
)
