import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findExchanges } from '../../src/tools/record/store.ts'
import { axe } from '../support/axe.ts'
import {
  focusOf,
  look,
  shareBrowser,
  type Visitor,
  visit,
  visitInOneWindow,
} from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { type Console, signIn } from '../support/console.ts'
import { fillAccount, type Shelf } from '../support/console-states.ts'
import { fillWithHostile } from '../support/hostile-account.ts'
import { press } from '../support/page-states.ts'
import { type Service, startService } from '../support/service.ts'
import { receiving } from '../support/subscriber.ts'

const browser = shareBrowser()
let service: Service
let api: Client
let shelf: Shelf
let full: Console

before(async () => {
  service = await startService('sqlite', receiving)
  api = await service.newAccount()
  shelf = await fillAccount(service, api)
  full = await signIn(service, api)
})

after(async () => {
  await shelf?.close()
  await service?.stop()
})

const inWindow = visitInOneWindow(browser)

/** Opens a page of the console in the window, signed in. */
const open = ({ cookie = '' }: Console, path: string, use: (visitor: Visitor) => Promise<void>) =>
  inWindow(visitor => openIn(visitor, cookie, path, use))

async function openIn(
  visitor: Visitor,
  cookie: string,
  path: string,
  use: (visitor: Visitor) => Promise<void>,
): Promise<void> {
  const [name = '', value = ''] = cookie.split(/=(.*)/s)
  await visitor.context.addCookies([{ name, value, url: service.baseUrl }])
  await visitor.page.goto(`${service.baseUrl}/console/${path}`)
  await use(visitor)
  assert.deepEqual(visitor.complaints, [], path)
}

const failedPath = () => `messages/${shelf.failed[0].webhook_message_id}`

describe('The pages of requests, webhooks, messages and signatures', () => {
  test('find, explain and damage a message, and compare its signature, without script', async () => {
    await visit(browser(), { javaScriptEnabled: false }, visitor =>
      openIn(visitor, full.cookie ?? '', 'webhooks', async ({ page }) => {
        await page.click(`a[href$="webhooks/${shelf.archive.external_id}"]`)
        await page.click('a:has-text("card_payment_failed")')
        assert.match(await page.innerText('#cause'), /401 Unauthorized/)
        await page.selectOption('#damage', 'space')
        await press(page, '#send-damaged')
        assert.match(await page.innerText('#cause'), /It refuses the undamaged message too/)
        await page.click('a:has-text("Compare signatures")')
        await page.click('#more summary')
        await page.fill('#key', `${shelf.archive.signing_key} `)
        await press(page, '#analyse')
        assert.match(await page.innerText('#result'), /the signing key with a space at its end/)
        await page.setInputFiles('#file', {
          name: 'body',
          mimeType: 'application/json',
          buffer: Buffer.from(JSON.stringify(shelf.failed[0].body)),
        })
        await press(page, '#analyse')
        assert.match(
          await page.innerText('#result'),
          /^No mistake found\s+No known mistake: the body is right/i,
        )
      }),
    )
  })

  test('ask and probe a receiver, on pages in which axe finds nothing', async () => {
    await open(full, failedPath(), async ({ page }) => {
      await press(page, '#ask-receiver')
      assert.match(await page.innerText('#asked'), /None of the \d+ known mistakes/)
      await page.click('#copies summary')
      assert.deepEqual(await axe(page), [])
      await page.goto(`${service.baseUrl}/console/webhooks/${shelf.ledger.external_id}`)
      await press(page, '#probe')
      assert.match(await page.innerText('main'), /messages were sent\. 0 fail, 0 warn, 8 passed/)
      assert.deepEqual(await axe(page), [])
    })
  })

  test('can be used by the keyboard alone: every control is reached once, in order, and none is a trap', async () => {
    await open(full, failedPath(), async ({ page }) => {
      const reached: string[] = []
      for (let i = 0; i < 80; i++) {
        await page.keyboard.press('Tab')
        const focus = await focusOf(page)
        if (focus === 'BODY') break
        reached.push(focus)
      }
      assert.ok(reached.length < 80, 'the focus leaves the page')
      assert.ok(reached.includes('send-again'))
      const cut = await look<number>(
        page,
        `Math.max(...[...document.querySelectorAll('pre')].map(each => each.scrollWidth - each.clientWidth))`,
      )
      assert.equal(cut, 0, 'a listing wraps, so it needs no focus to be scrolled')
      assert.equal(new Set(reached.filter(id => id === 'send-again')).size, 1)
    })
  })

  test('on a phone each row of a list is a card, which begins with its subject and hides nothing at the right', async () => {
    for (const [path, first] of [
      ['requests', 'Request'],
      ['payments', ''],
      ['deliveries', ''],
      [`webhooks/${shelf.archive.external_id}`, ''],
    ] as const)
      await open(full, path, async ({ page }) => {
        await page.setViewportSize({ width: 390, height: 800 })
        const hidden = await look<number>(
          page,
          `Math.max(...[...document.querySelectorAll('.farthing-scroll:has(table)')].map(each => each.scrollWidth - each.clientWidth))`,
        )
        assert.equal(hidden, 0, path)
        const heads = await look<string[]>(
          page,
          `[...document.querySelectorAll('.farthing-scroll:has(.farthing-leads) tbody tr:not(.farthing-note)')].map(row => {
            const [first] = [...row.cells].filter(cell => cell.getClientRects().length > 0).sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
            return first.dataset.label ?? ''
          })`,
        )
        assert.ok(heads.length > 0 && heads.every(head => head === first), `${path}: ${heads}`)
      })
  })

  test('run no script that others wrote, and keep to their content security policy, in every place where it is shown', async () => {
    const { api, room, payment_id, close } = await fillWithHostile(service)
    try {
      const session = await signIn(service, api)
      const order = { limit: 50, order: 'newest' } as const
      const exchanges = await findExchanges(service.database, room, {}, order)
      const messages = new Set(exchanges.flatMap(({ message_id }) => message_id ?? []))
      const paths = [
        'payments',
        `payments/${payment_id}`,
        'requests',
        'webhooks',
        'signature',
        ...exchanges.map(({ exchange_id }) => `requests/${exchange_id}`),
        ...[...messages].map(message_id => `messages/${message_id}`),
      ]
      assert.ok(messages.size > 0 && exchanges.length > 5)
      await visit(browser(), {}, visitor =>
        openIn(visitor, session.cookie ?? '', 'payments', async ({ page, requests }) => {
          const dialogs: string[] = []
          page.on('dialog', dialog => {
            dialogs.push(dialog.message())
            void dialog.dismiss()
          })
          await page.addInitScript(
            'window.reports = []; addEventListener("securitypolicyviolation", ({ violatedDirective, sample }) => reports.push(violatedDirective + " " + sample))',
          )
          for (const path of paths) {
            await page.goto(`${service.baseUrl}/console/${path}`)
            for (const summary of await page.locator('summary').all()) await summary.click()
            assert.deepEqual(await look(page, 'reports'), [], path)
          }
          assert.deepEqual(dialogs, [])
          const foreign = requests.filter(each => !each.includes(` ${service.baseUrl}/`))
          assert.deepEqual(foreign, [])
        }),
      )
    } finally {
      await close()
    }
  })
})
