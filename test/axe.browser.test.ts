import { expect, it } from 'vitest'
import { violations, violationsInBothSchemes } from './axe.ts'
import { sharedBrowser } from './browser.ts'
import { fits, LOOKS, visit } from './sandbox/browse.ts'

/** The page checks find accessibility problems, poor contrast in the current colour scheme, and overflow at any width. */

const pageOf = (style: string) =>
  `<!doctype html><html lang="en"><title>A page</title><style>${style}</style><main><h1>Heading</h1><p>Text</p></main>`
const greyIn = (scheme: string) =>
  pageOf(`@media (prefers-color-scheme: ${scheme}) { p { color: #777; background: #888 } }`)
const BAD_CONTRAST = [expect.stringMatching(/^color-contrast: <p>/)]

it('there is a look for each colour scheme', () => {
  expect(LOOKS.map(({ colorScheme }) => colorScheme).sort()).toEqual(['dark', 'light'])
})

it.each(LOOKS)('poor contrast and overflow are found with the look %j', async (look) => {
  const page = await (await visit(await sharedBrowser(), look)).newPage()
  await page.setContent(pageOf(''))
  expect(await violations(page)).toEqual([])
  expect(await violationsInBothSchemes(page)).toEqual([])
  expect(await fits(page)).toBe(true)
  for (const scheme of ['light', 'dark']) {
    await page.setContent(greyIn(scheme))
    expect(await violations(page), scheme).toEqual(scheme === look.colorScheme ? BAD_CONTRAST : [])
    expect(await violationsInBothSchemes(page), scheme).toEqual(BAD_CONTRAST)
    expect(await violations(page, 'h1'), scheme).toEqual([])
    expect(await violations(page, 'p'), scheme).toEqual(scheme === look.colorScheme ? BAD_CONTRAST : [])
  }
  for (const width of [320, 360, 1280]) {
    await page.setContent(pageOf(`@media (width: ${width}px) { p { width: ${width + 100}px } }`))
    expect(await fits(page), `${width}`).toBe(false)
  }
  await page.context().close()
})

it('what axe calls serious or critical is found by other rules too, and what is less is left out', async () => {
  const page = await (await sharedBrowser()).newPage()
  await page.setContent(
    `${pageOf('')}<p>Outside of main</p><a href="/"></a><img src="data:,"><input><ul><p>No item</p></ul>`,
  )
  const rules = (await violations(page)).map((found) => found.split(':')[0])
  expect(rules).toEqual(['image-alt', 'label', 'link-name', 'list'])
  await page.context().close()
})
