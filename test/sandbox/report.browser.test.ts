import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STEPS } from '../../src/sandbox/certification/steps/index.ts'
import { storeReport } from '../../src/sandbox/reports/report.ts'
import type { StoredReport } from '../../src/sandbox/reports/store.ts'
import { sharedBrowser, toNextPage } from '../browser.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'
import { fits, LOOKS, picture, visit } from './browse.ts'
import { newSandboxPartner } from './partners.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const SCREENSHOTS = process.env.SCREENSHOTS
const AT = '2026-05-06T10:34:20.000Z'

let world: World
let browser: Browser
let base: string
let stored: StoredReport
beforeAll(async () => {
  const port = await freePort()
  base = `http://localhost:${port}`
  world = await openWorld({ PUBLIC_URL: base })
  await world.app.listen({ host: '127.0.0.1', port })
  const { partner_id } = await newSandboxPartner(world)
  const runId = randomUUID()
  await world.pool.query(
    `insert into sandbox_run (run_id, partner_id, number, choice, created_at) values ($1, $2, 1, '{}', now())`,
    [runId, partner_id],
  )
  stored = await storeReport(world.deps, runId, {
    partner_id: String(partner_id),
    partner_name: '湖畔票务 Lakeside Tickets',
    run_number: 3,
    functions: ['product-pull', 'order-create', 'pay-at-once', 'order-query', 'consumption', 'refund-at-once'],
    steps: STEPS.map(({ id }) => ({ id, passed_at: AT, attempts: 1 })),
    evidence: { consumption: ['8985652356562000001'], refund: ['8985652356562000002'] },
    passed_at: AT,
  })
  browser = await sharedBrowser()
})
afterAll(async () => {
  await world?.close()
})

describe('the verify page', () => {
  it.each(LOOKS)('is accessible and fits: %j', async (look) => {
    const page = await (await visit(browser, look)).newPage()
    for (const [name, path] of Object.entries({ report: `/${stored.report_id}`, form: '' })) {
      await page.goto(`${base}/sandbox/verify${path}`)
      await page.evaluate(axe)
      const problems = await page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))',
      )
      expect(problems).toEqual([])
      expect(await fits(page)).toBe(true)
      await picture(page, `verify-${name}`, look)
    }
    await page.context().close()
  })

  it('verifies a pasted report without scripts, by keyboard', async () => {
    const context = await browser.newContext({ locale: 'en-GB', javaScriptEnabled: false })
    const page = await context.newPage()
    const verdictOn = async (content: string) => {
      await page.goto(`${base}/sandbox/verify`)
      await page.getByLabel('Report (JSON)').fill(content)
      await page.keyboard.press('Tab')
      await page.keyboard.insertText(stored.signature)
      await toNextPage(page, () => page.keyboard.press('Enter'))
      return page.getByRole('heading', { level: 1 }).textContent()
    }
    expect(await verdictOn(JSON.stringify(JSON.parse(stored.content), null, 2))).toBe('The report is genuine')
    expect(await verdictOn(stored.content.replace('湖畔', '湖边'))).toBe('The report is not genuine')
    await context.close()
  })

  it('prints the report and not the form', async () => {
    const page = await browser.newPage()
    await page.goto(`${base}/sandbox/verify/${stored.report_id}`)
    const form = page.locator('.verify-form')
    expect(await form.isVisible()).toBe(true)
    await page.emulateMedia({ media: 'print' })
    expect(await form.isVisible()).toBe(false)
    expect(await page.locator('.verify h1').isVisible()).toBe(true)
    if (SCREENSHOTS) await page.pdf({ path: join(SCREENSHOTS, 'verify.pdf') })
    await page.close()
  })

  it('shows commands that verify the report elsewhere and detect a change', async () => {
    const page = await browser.newPage()
    await page.goto(`${base}/sandbox/verify/${stored.report_id}`)
    const [fetch, openssl, node] = await Promise.all(
      ['#fetch', '#openssl', '#node'].map((id) => page.locator(id).textContent()),
    )
    await page.close()
    const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-report-'))
    const path = `${process.execPath.replace(/\/node$/, '')}:${process.env.PATH}`
    const run = async (command: string | null | undefined) =>
      (await promisify(execFile)('sh', ['-c', `${command}\ntrue`], { cwd, env: { PATH: path } })).stdout
    try {
      await run(fetch)
      expect(await run(openssl)).toContain('Signature Verified Successfully')
      expect(await run(node)).toBe('genuine\n')
      writeFileSync(join(cwd, 'report.json'), stored.content.replace('"run_number":3', '"run_number":4'))
      expect(await run(`${openssl} 2>&1`)).toContain('Signature Verification Failure')
      expect(await run(node)).toBe('NOT genuine\n')
    } finally {
      rmSync(cwd, { recursive: true })
    }
  })
})
