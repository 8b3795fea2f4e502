import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INTERFACES } from '../../src/ticketing/interfaces/index.ts'
import { type Lab, openLab } from './lab.ts'
import { unlock, type Visitor, visitor } from './pages/visitor.ts'

/** A partner that has done nothing yet: no call, no order, no run, no contact, no member. */

let lab: Lab
beforeAll(async () => {
  lab = await openLab({}, { fresh: true })
})
afterAll(() => lab.close())

const decoded = (text: string): string =>
  text
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
const attribute = (tag: string, name: string): string | undefined => {
  const [, value] = new RegExp(`\\s${name}="([^"]*)"`).exec(tag) ?? []
  return value === undefined ? undefined : decoded(value)
}

interface Form {
  readonly action: string
  readonly method: string
  readonly fields: Record<string, string>
}

/** The forms of a page with their prefilled values. */
const formsIn = (html: string, path: string): Form[] =>
  [...html.matchAll(/(<form[^>]*>)([\s\S]*?)<\/form>/g)].map(([, tag = '', inside = '']) => {
    const inputs = [...inside.matchAll(/<(?:input|button)[^>]*\sname="[^"]*"[^>]*>/g)].map(([input]) => [
      attribute(input, 'name') ?? '',
      attribute(input, 'value') ?? '',
    ])
    const areas = [...inside.matchAll(/(<textarea[^>]*>)([\s\S]*?)<\/textarea>/g)].map(([, area = '', text = '']) => [
      attribute(area, 'name') ?? '',
      decoded(text),
    ])
    const fields = Object.fromEntries([...inputs, ...areas])
    return { action: attribute(tag, 'action') ?? path, method: attribute(tag, 'method') ?? 'get', fields }
  })

const linksIn = (html: string): string[] =>
  [...html.matchAll(/href="(\/sandbox[^"#]*)/g)].map(([, href = '']) => decoded(href))

const EXCLUDED = ['/sandbox/sign-out']

/** Opens every page that can be reached, and returns their forms. */
async function crawl({ open }: Visitor, start: readonly string[]) {
  const seen = new Set<string>(start)
  const wrong: string[] = []
  const forms = new Map<string, Form>()
  for (const path of seen) {
    const { statusCode, body, headers } = await open(path)
    if (statusCode >= 400) wrong.push(`GET ${path}: ${statusCode}`)
    if (!String(headers['content-type']).startsWith('text/html')) continue
    for (const form of formsIn(body, path)) forms.set(`${form.method} ${form.action}`, form)
    for (const href of linksIn(body)) if (!EXCLUDED.includes(href)) seen.add(href)
  }
  return { seen, wrong, forms }
}

describe('a partner that has done nothing yet', () => {
  const start = ['/sandbox', ...INTERFACES.map(({ name }) => `/sandbox/play/${name}`)]

  it('can open every page before and after passing the signature tool, and send every form', async () => {
    await lab.world.pool.query(`update partner set base_url = $1`, [lab.sellerUrl])
    const seller = await visitor(lab)
    const locked = await crawl(seller, start)
    await unlock(lab, lab.partnerId)
    const { seen, wrong, forms } = await crawl(seller, start)
    expect([locked.wrong, wrong]).toEqual([[], []])
    expect(seen.size).toBeGreaterThan(25)
    expect(forms.size).toBeGreaterThan(10)
    for (const [name, { action, method, fields }] of forms) {
      if (EXCLUDED.includes(action)) continue
      const query = new URLSearchParams(fields).toString()
      const answer = method === 'post' ? await seller.send(action, fields) : await seller.open(`${action}?${query}`)
      expect(answer.statusCode, `${name} ${query}: ${answer.body.slice(0, 200)}`).toBeLessThan(500)
    }
  })
})
