import type pg from 'pg'
import type { Page } from 'playwright-core'
import { toNextPage } from './browser.ts'
import { untilLocked } from './locks.ts'

/**
 * Clicks a button twice: the second click comes after the first form was sent but before its response, which waits for
 * the row selected by `lock`. Returns how many forms were sent.
 */
export async function pressTwice(page: Page, button: string, pool: pg.Pool, lock: string, id: string): Promise<number> {
  let sent = 0
  page.on('request', (request) => {
    if (request.method() === 'POST') sent++
  })
  const held = await pool.connect()
  try {
    await held.query('begin')
    await held.query(`select from ${lock} = $1 for update`, [id])
    await toNextPage(page, async () => {
      const { x = 0, y = 0 } = (await page.locator(button).boundingBox()) ?? {}
      await page.mouse.click(x + 9, y + 9)
      await untilLocked(pool)
      await page.mouse.click(x + 9, y + 9)
      await held.query('commit')
    })
  } finally {
    await held.query('rollback')
    held.release()
  }
  return sent
}
