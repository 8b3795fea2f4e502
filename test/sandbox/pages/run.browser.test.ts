import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { currentRun, nextStep, showRun } from '../../../src/sandbox/certification/run.ts'
import { violations } from '../../axe.ts'
import { lookAt, toNextPage } from '../../browser.ts'
import { browsing, fits, gluedWords, LOOKS, type Look, onlyCurrentMarked, picture, signInAs, tabTo } from '../browse.ts'
import { type Lab, openLab, SIMPLE, walkTo } from '../lab.ts'
import { EVERYTHING, useTickets } from '../walk.ts'
import { unlock } from './visitor.ts'

const browser = browsing()
let lab: Lab
let origin: string
beforeAll(async () => {
  lab = await openLab()
  await unlock(lab, lab.partnerId)
  origin = lab.url.replace('127.0.0.1', 'localhost')
})
afterAll(async () => {
  await lab.close()
})

const DESKTOP: Look = { size: 'desktop', locale: 'en' }

/** Opens a page by way of sign-in. */
async function open(path: string, look: Look = DESKTOP): Promise<Page> {
  const page = await browser.open(origin + path, look)
  await signInAs(page, { client_id: 'lab', client_secret: lab.secret })
  await page.waitForURL((url) => url.pathname !== '/sandbox/sign-in')
  return page
}

const runPath = (runId: string) => `/sandbox/run/${runId}`
const start = (page: Page) => page.locator('form[action$="/start"] button')
const next = (page: Page) => page.locator('form[action$="/next"] button')
const accept = (page: Page) => page.locator('#now form[action$="/accept"] button')
const heading = (page: Page) => page.locator('#now-title')

const SELLER_STEPS: Readonly<Record<string, (runId: string) => Promise<unknown>>> = {
  consumption: (runId) => useTickets(lab, runId),
}

/** What the seller does while a step waits for it. */
async function sellerActs(runId: string): Promise<void> {
  const { current } = await showRun(lab.world.deps, lab.partnerId, runId)
  await SELLER_STEPS[String(current?.step.id)]?.(runId)
}

/** Fills in the form with the simple choice and starts the run. */
async function startByForm(page: Page): Promise<string> {
  await page.fill('#field-main', SIMPLE.products.main)
  await toNextPage(page, () => page.click('button[value=start]'))
  if (await page.locator('input[name=replaces]').count()) await page.click('button[value=start]')
  await page.waitForURL(/\/sandbox\/run\/[\da-f-]{36}/)
  return (await currentRun(lab.world.deps, lab.partnerId)).run_id
}

// careless-seller.browser.test.ts walks to the end, acceptance/sandbox-walk.browser.test.ts does so with JavaScript.
it('without JavaScript a person chooses functions, runs a step and moves on to the next one', async () => {
  const page = await open('/sandbox/functions', { ...DESKTOP, javaScriptEnabled: false })
  const runId = await startByForm(page)
  const { steps } = await showRun(lab.world.deps, lab.partnerId, runId)
  for (const { step } of steps.slice(0, 2)) {
    await page.waitForSelector(`#steps li[aria-current=step] a[href$="step=${step.id}"]`)
    await start(page).click()
    await next(page).click() // the page reloads itself every two seconds
  }
  await page.waitForSelector(`#steps li[aria-current=step] a[href$="step=${steps[2]?.step.id}"]`)
  expect(await page.locator('#steps li .mark.good').count()).toBe(2)
})

/** Runs the remaining steps of a run whose current step has passed. */
async function walkToEnd(runId: string): Promise<void> {
  const { deps } = lab.world
  for (;;) {
    const { current } = await showRun(deps, lab.partnerId, runId)
    if (!current) return
    if (current.state !== 'passed') await lab.runStep(runId, current.step.id)
    await nextStep(deps, lab.partnerId, runId, current.step.id)
  }
}

it('the page says why it refused a form, and is back to normal once reloaded', async () => {
  const runId = await lab.run()
  await walkTo(lab, runId, 'product-pull')
  const page = await open(runPath(runId))
  await page.locator('#now form[action$="/start"] input[name=form_of]').evaluate((field: HTMLInputElement) => {
    field.value = 'another'
  })
  await start(page).click()
  await page.getByText('opened for another account').waitFor()
  await page.reload()
  await heading(page).waitFor()
  expect((await showRun(lab.world.deps, lab.partnerId, runId)).current?.state).toBe('open')
})

describe('while a step is running', () => {
  it('lines appear by themselves in every tab, and the focus moves only in the tab where the person acted', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'product-pull')
    const mine = await open(runPath(runId))
    const other = await open(runPath(runId))
    await other.focus('.brand')
    await start(mine).click()
    await mine.waitForSelector('#now form[action$="/next"]')
    await other.waitForSelector('#now form[action$="/next"]')
    expect(await mine.evaluate(() => document.activeElement?.id)).toBe('now')
    expect(await other.evaluate(() => document.activeElement?.className)).toBe('brand')
    for (const page of [mine, other]) {
      await page.waitForSelector('#lines > li.is-ended')
      const seqs = await page
        .locator('#lines li.event')
        .evaluateAll((lines) => lines.map(({ id }) => Number(id.slice(1))))
      expect(seqs).toEqual(seqs.map((_seq, index) => (seqs[0] ?? 0) + index))
      expect(await page.locator('#lines > li.is-ended').count()).toBe(1)
    }
    const stale = await open(runPath(runId), { ...DESKTOP, javaScriptEnabled: false })
    await next(other).click()
    await other.waitForFunction(() => !document.querySelector('#steps [aria-current=step] a[href$="product-pull"]'))
    // A tab without JavaScript still offers Next, and then says that the run has moved on.
    await next(stale).click()
    await stale.getByRole('alert').waitFor()
    expect(await stale.getByRole('alert').textContent()).toContain('is no longer at that step')
  })

  it('a page that was requested before Next does not replace the one after it', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'product-pull')
    await lab.runStep(runId, 'product-pull')
    const page = await open(runPath(runId))
    const late: (() => Promise<void>)[] = []
    await page.route(`**${runPath(runId)}`, async (route) => {
      if (late.length > 0 || route.request().method() !== 'GET') return route.continue()
      const answer = await route.fetch()
      late.push(() => route.fulfill({ response: answer }))
    })
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await expect.poll(() => late.length).toBe(1)
    await next(page).click()
    const left = '#steps li[aria-current=step] a[href$="step=product-pull"]'
    await page.waitForSelector(left, { state: 'detached' })
    await late[0]?.()
    await page.waitForTimeout(500)
    expect(await page.locator(left).count()).toBe(0)
  })

  it('the page reloads once, not once per line, when lines arrive while it is loading', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'product-pull')
    const page = await open(runPath(runId))
    const requests: (() => Promise<void>)[] = []
    await page.route(`**${runPath(runId)}`, async (route) => {
      requests.push(() => route.continue())
      if (requests.length !== 2) await route.continue()
    })
    await lab.runStep(runId, 'product-pull')
    await page.waitForSelector('#lines > li.is-ended')
    expect(await page.locator('#lines li.event').count()).toBeGreaterThan(4)
    await expect.poll(() => requests.length).toBe(2)
    await requests[1]?.()
    await next(page).waitFor()
    await page.waitForTimeout(500)
    expect(requests.length).toBeLessThanOrEqual(3)
  })

  it('the answer to a form stays when the page reloads itself, until the next form is sent', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'product-pull')
    const page = await open(runPath(runId))
    // Without events the page does not notice that the run moves on elsewhere.
    await page.context().route('**/events?*', () => {})
    await page.reload()
    await lab.runStep(runId, 'product-pull')
    await nextStep(lab.world.deps, lab.partnerId, runId, 'product-pull')
    await start(page).click()
    await page.getByRole('alert').waitFor()
    const loaded = page.waitForResponse(
      (answer) => answer.url() === origin + runPath(runId) && answer.request().method() === 'GET',
    )
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await loaded
    await page.waitForTimeout(300)
    expect(await page.getByRole('alert').textContent()).toContain('is no longer at that step')
    await start(page).click()
    await page.waitForSelector('[role=alert]', { state: 'detached' })
  })

  it('a step that waits says so, with a countdown, and ends when the notice arrives', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    const page = await open(runPath(runId))
    await start(page).dblclick()
    await page.waitForSelector('.waiting')
    expect(await page.locator('[role=status].status').textContent()).toContain('Your turn')
    const before = await page.locator('.timer').textContent()
    await page.waitForFunction((text) => document.querySelector('.timer')?.textContent !== text, before)
    await sellerActs(runId)
    await next(page).waitFor()
    const { steps } = await showRun(lab.world.deps, lab.partnerId, runId)
    expect(steps.find(({ step }) => step.id === 'consumption')?.attempts).toHaveLength(1)
  })

  it('one click runs all steps up to one that waits, which can be stopped and started again', async () => {
    const runId = await lab.run()
    const page = await open(runPath(runId))
    expect(await page.textContent('.run-title time')).toMatch(/^\w+ \d+, \d{4}, \d\d:\d\d:\d\d$/)
    expect(await page.getAttribute('.run-title time', 'title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    await page.click('form[action$="/start-all"] button')
    await page.waitForSelector('.waiting')
    expect(new URL(page.url()).search).toBe('')
    expect(await page.textContent('.waiting pre.body')).toContain('"usedQuantity": 2')
    await page.click('form[action$="/stop"] button')
    await start(page).waitFor()
    await page.getByText('You stopped waiting').waitFor()
    expect(await page.textContent('#steps li[aria-current=step]')).toContain('interrupted')
  })

  it('nothing is lost when the session ends: after sign-in the step and its lines are there', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    const page = await open(runPath(runId))
    await start(page).click()
    await page.waitForSelector('.waiting')
    await page.evaluate(() => location.replace('#main')) // a link within the page was followed
    const left: string[] = []
    page.on('request', (request) => request.isNavigationRequest() && left.push(new URL(request.url()).pathname))
    await lab.world.pool.query('delete from sandbox_session')
    await sellerActs(runId)
    // The page notices by itself, before anybody acts.
    await page.getByText('Your session has ended').waitFor()
    expect(left).toEqual([runPath(runId), '/sandbox/sign-in'])
    await signInAs(page, { client_id: 'lab', client_secret: lab.secret })
    await page.waitForURL(`${origin}${runPath(runId)}`)
    await next(page).waitFor()
    expect(await page.locator('#lines > li.is-notice').count()).toBe(1)
  })

  it('no line is lost while the network is down', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    const page = await open(runPath(runId))
    await start(page).click()
    await page.waitForSelector('.waiting')
    await page.context().setOffline(true)
    await sellerActs(runId)
    await page.waitForTimeout(500)
    await page.context().setOffline(false)
    await next(page).waitFor()
    await page.waitForSelector('#lines > li.is-ended')
    expect(await page.locator('#lines > li.is-notice').count()).toBe(1)
  })
})

/** Runs a command of the page as the seller's engineer would, but with the address and clock of the lab. */
async function runCommand(command: string): Promise<string> {
  const { clock, deps } = lab.world
  const here = command
    .replaceAll(deps.config.PARTNER_URL, lab.url)
    .replace(/^DATE=.*$/m, `DATE='${clock.now().toUTCString()}'`)
  const env = { PATH: process.env.PATH, CLIENT_SECRET: lab.secret }
  return (await promisify(execFile)('sh', ['-c', here], { env })).stdout
}

describe('the panel of a step that waits', () => {
  const waiting = async (look: Look) => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    const page = await open(runPath(runId), look)
    await start(page).click()
    await page.waitForSelector('.waiting pre.body')
    return page
  }

  it('uses the full width, and copies the notice or a command that ends the wait', async () => {
    const page = await waiting(DESKTOP)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const widthOf = (selector: string) => page.locator(selector).evaluate((element) => element.clientWidth)
    expect(await widthOf('.waiting')).toBeGreaterThan((await widthOf('#now')) - 50)
    const copy = page.locator('#now .copy')
    expect(await copy.allTextContents()).toEqual(['Copy', 'Copy as cURL'])
    const copied = async (at: number) => {
      await copy.nth(at).click()
      await expect.poll(() => copy.nth(at).textContent()).toBe('Copied')
      return page.evaluate(() => navigator.clipboard.readText())
    }
    expect(await copied(0)).toBe(await page.textContent('.waiting pre.body'))
    const command = await copied(1)
    expect(command).not.toContain(lab.secret)
    expect(JSON.parse(await runCommand(command))).toMatchObject({ code: 200 })
    await next(page).waitFor()
  })

  it('shows the same command without JavaScript, and no copy button', async () => {
    const page = await waiting({ ...DESKTOP, javaScriptEnabled: false })
    expect(await lookAt(page, () => page.locator('.copy').count())).toBe(0)
    const command = String(await page.textContent('#waiting-curl pre'))
    expect(JSON.parse(await runCommand(command))).toMatchObject({ code: 200 })
    await next(page).waitFor()
    await page.waitForLoadState()
    // Passed checks are folded; a click shows them.
    const folded = page.locator('#lines > li.folded').last()
    expect(await folded.locator('li.event').first().isVisible()).toBe(false)
    await folded.locator('summary').first().click()
    await folded.locator('li.event').first().waitFor()
  })
})

describe('on a laptop', () => {
  /** How much longer the page is than the window. */
  const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)
  const inView = (page: Page, selector: string) =>
    page.locator(selector).evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect()
      const list = element.closest('ol')?.getBoundingClientRect()
      return top >= Math.max(0, list?.top ?? 0) && bottom <= Math.min(window.innerHeight, list?.bottom ?? Infinity) + 1
    })
  const LAST = '#steps li:last-child'
  const CURRENT = '#steps li[aria-current=step]'

  const runAt = async (step: string): Promise<Page> => {
    const runId = await lab.run(EVERYTHING)
    await lab.world.pool.query('update sandbox_run set current_step = $2 where run_id = $1', [runId, step])
    return open(runPath(runId))
  }

  it.each([
    [1366, 768],
    [1366, 600],
    [1024, 640],
    [1920, 1080],
  ])(
    'at %i × %i the page does not scroll, but its list of steps does, to the current one and to the end',
    async (width, height) => {
      const page = await runAt('refund-at-once')
      await page.setViewportSize({ width, height })
      await page.reload()
      expect(await page.locator('#steps li').count()).toBeGreaterThan(20)
      expect(await overflow(page)).toBe(0)
      expect(await inView(page, CURRENT)).toBe(true)
      await page.locator(LAST).scrollIntoViewIfNeeded()
      expect(await inView(page, LAST)).toBe(true)
      await page.click('.chosen > summary')
      await page.waitForSelector('.chosen[open]')
      expect(await overflow(page)).toBe(0)
    },
  )

  it('in a low or narrow window the page scrolls as usual, and everything can be reached', async () => {
    const page = await runAt('refund-at-once')
    for (const [width, height] of [
      [1366, 400],
      [700, 768],
    ] as const) {
      await page.setViewportSize({ width, height })
      expect(await overflow(page)).toBeGreaterThan(0)
      await page.locator(LAST).scrollIntoViewIfNeeded()
      expect(await inView(page, LAST)).toBe(true)
      await page.locator('.chosen > summary').scrollIntoViewIfNeeded()
      expect(await inView(page, '.chosen > summary')).toBe(true)
    }
  })

  it('the list of steps keeps its scroll position while lines arrive, and follows the run to its next step', async () => {
    const page = await runAt('product-pull')
    await page.setViewportSize({ width: 1366, height: 600 })
    const list = page.locator('#steps ol')
    await list.evaluate((ol) => ol.scrollTo(0, ol.scrollHeight))
    const before = await list.evaluate((ol) => ol.scrollTop)
    expect(before).toBeGreaterThan(0)
    await start(page).click()
    await next(page).waitFor()
    expect(await list.evaluate((ol) => ol.scrollTop)).toBe(before)
    await next(page).click()
    await page.waitForSelector(`${CURRENT} a:not([href$="step=product-pull"])`)
    expect(await inView(page, CURRENT)).toBe(true)
  })
})

describe('a run that was accepted', () => {
  it('is one card: what was accepted, who was notified, one report and what comes next', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    // Opened only now: an older page might still show an earlier step and start that one.
    const page = await open(runPath(runId))
    await start(page).click()
    await page.waitForSelector('.waiting')
    await sellerActs(runId)
    await next(page).waitFor()
    await walkToEnd(runId)
    await page.reload()
    await accept(page).click()
    const card = page.locator('#acceptance')
    await card.locator('.success').waitFor()
    // The form updates the page in place; a reload shows the same.
    for (const again of [false, true]) {
      if (again) await page.reload()
      expect(await page.locator('#run > *').evaluateAll((parts) => parts.map(({ id }) => id))).toEqual([
        'acceptance',
        'steps',
      ])
      expect(await page.locator('#main a[href*="/verify/"], #main a[href$="/report"]').count()).toBe(1)
      expect(await card.locator('h3').allTextContents()).toEqual([
        'What was accepted',
        'Who was told',
        'Report',
        'What happens next',
      ])
      expect(await card.textContent()).toContain('An operator of the platform then sets you live')
    }
    // Steps can still be opened, with the acceptance card below.
    await toNextPage(page, () => page.click('#steps li:first-child a'))
    await page.waitForSelector('#log')
    expect(await card.locator('.success').count()).toBe(1)
  })

  it('tells a live partner that it is live', async () => {
    const { pool } = lab.world
    const { rows } = await pool.query('select run_id from sandbox_run where passed_at is not null limit 1')
    const { run_id } = rows[0]
    await pool.query(`update partner set stage = 'live'`)
    const page = await open(runPath(run_id))
    await pool.query(`update partner set stage = 'sandbox'`)
    expect(await page.textContent('#acceptance ol')).toContain('You are live.')
    expect(await page.textContent('#acceptance ol')).not.toContain('sets you live')
  })
})

describe('what a partner sends', () => {
  it('is shown as plain text, whatever it looks like', async () => {
    const nasty = `</pre></li></ol><script>document.title='stolen'</script><img src=x onerror="document.title='stolen'">`
    await lab.control('change-product', { partnerDealId: SIMPLE.products.main, title: nasty })
    const runId = await lab.run()
    await walkTo(lab, runId, 'product-pull')
    const page = await open(runPath(runId))
    await start(page).click()
    await page.waitForSelector('#lines > li.is-ended')
    const bodies = await page.locator('#lines pre.body').allTextContents()
    expect(bodies.join('\n')).toContain(JSON.stringify(nasty))
    expect(await page.title()).not.toContain('stolen')
    expect(await page.locator('#lines img, #lines script').count()).toBe(0)
    expect(await page.locator('#acceptance').count()).toBe(1)
    await page.reload()
    expect(await page.title()).not.toContain('stolen')
    await lab.control('change-product', { partnerDealId: SIMPLE.products.main, title: 'A trip' })
  })
})

describe('with the keyboard alone', () => {
  it('a run is started, a step is run, and the next one is reached', async () => {
    const page = await open('/sandbox/functions')
    const press = (wanted: string) => tabTo(page, wanted)
    await press('#field-main')
    await page.keyboard.type(SIMPLE.products.main)
    await press('button[value=start]')
    await page.keyboard.press('Enter')
    await page.waitForSelector('input[name=replaces], #now', { state: 'attached' })
    if (await page.locator('input[name=replaces]').count()) {
      await press('button[value=start]')
      await page.keyboard.press('Enter')
    }
    await page.waitForURL(/\/sandbox\/run\//)
    const first = await heading(page).textContent()
    await press('form[action$="/start"] button')
    await page.keyboard.press('Enter')
    await next(page).waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('now')
    await press('form[action$="/next"] button')
    await page.keyboard.press('Space')
    await page.waitForFunction((text) => document.querySelector('#now-title')?.textContent !== text, first)
    await press('#lines summary, #steps a')
  })
})

/** Pages whose screenshots are kept. */
const KEPT = ['functions', 'run-failed', 'run-waiting', 'run-passed', 'run-accepted', 'report', 'history']

describe.each(LOOKS)('viewed as %j', (look) => {
  it('each page is accessible and fits', async () => {
    const { url } = lab
    const looksRight = async (page: Page, name: string) => {
      expect(await page.getAttribute('html', 'lang')).toBe(look.locale)
      expect(await violations(page)).toEqual([])
      expect(await fits(page), name).toBe(true)
      expect(await gluedWords(page), name).toEqual([])
      if (KEPT.includes(name)) await picture(page, name, look)
    }
    const page = await open('/sandbox/functions', look)
    await looksRight(page, 'functions')
    await page.fill('#field-quantity', '99')
    await page.locator('input[value=pay-at-once]').setChecked(false)
    await page.fill('#field-base_url', `${url}/nothing`)
    await page.click('button[value=check]')
    await page.waitForSelector('#preflight')
    await looksRight(page, 'functions-problems')
    await lab.world.pool.query('delete from failed_attempt')
    const runId = await lab.run()
    await walkTo(lab, runId, 'product-pull')
    await lab.mistakes('answer-missing-field')
    await lab.runStep(runId, 'product-pull')
    await lab.mistakes()
    await page.goto(origin + runPath(runId))
    await looksRight(page, 'run-failed')
    expect(await onlyCurrentMarked(page, '#steps li', 'borderLeftColor')).toBe(true)
    await page.click('a[href$="share=1#share"]')
    const link = new URL(String(await page.textContent('#share pre')))
    await looksRight(page, 'run-share')
    await page.goto(origin + link.pathname + link.search)
    await looksRight(page, 'run-shared')
    await walkTo(lab, runId, 'consumption')
    await page.goto(origin + runPath(runId))
    await looksRight(page, 'run-next')
    await start(page).click()
    await page.waitForSelector('.waiting')
    await looksRight(page, 'run-waiting')
    await sellerActs(runId)
    await next(page).waitFor()
    await page.locator('#lines > li.is-notice summary').first().click()
    await looksRight(page, 'run-passed')
    await walkToEnd(runId)
    await page.goto(origin + runPath(runId))
    await looksRight(page, 'run-acceptance')
    await accept(page).click()
    await page.waitForSelector('#acceptance .success')
    await looksRight(page, 'run-accepted')
    await page.goto(`${origin}${runPath(runId)}/report`)
    await looksRight(page, 'report')
    const lineCounts = (times: Element[]) => times.map((time) => time.getClientRects().length)
    const linesPerTime = await page.locator('.report td time').evaluateAll(lineCounts)
    expect(linesPerTime.length).toBeGreaterThan(5)
    expect(Math.max(...linesPerTime)).toBe(1)
    await page.goto(`${origin}/sandbox/history`)
    await looksRight(page, 'history')
    await page.goto(`${origin}/sandbox`)
    await looksRight(page, 'home-walked')
    await page.goto(`${origin}/sandbox/functions`)
    await page.fill('#field-main', 'DEMO-BOAT')
    await page.fill('#field-base_url', 'http://127.0.0.1:9')
    await page.click('button[value=start]')
    await page.waitForSelector('button[value=back]')
    await looksRight(page, 'overwrite')
  })
})
