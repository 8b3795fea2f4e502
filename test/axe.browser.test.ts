import { expect, it } from 'vitest'
import { violations } from './axe.ts'
import { sharedBrowser } from './browser.ts'
import { fits, LOOKS, visit } from './sandbox/browse.ts'

/** What one look finds out about the others: the contrast of the other colour scheme, and the widths of the other sizes. */

const pageOf = (style: string) =>
  `<!doctype html><html lang="en"><title>A page</title><style>${style}</style><main><h1>Heading</h1><p>Text</p></main>`

it.each(LOOKS)('as %j', async (look) => {
  const page = await (await visit(await sharedBrowser(), look)).newPage()
  await page.setContent(pageOf(''))
  expect(await violations(page)).toEqual([])
  expect(await fits(page)).toBe(true)
  for (const scheme of ['light', 'dark']) {
    await page.setContent(pageOf(`@media (prefers-color-scheme: ${scheme}) { p { color: #777; background: #888 } }`))
    expect(await violations(page), scheme).toEqual([expect.stringMatching(/^color-contrast: <p>/)])
  }
  for (const width of [320, 360, 1280]) {
    await page.setContent(pageOf(`@media (width: ${width}px) { p { width: ${width + 100}px } }`))
    expect(await fits(page), `${width}`).toBe(false)
  }
  await page.context().close()
})
