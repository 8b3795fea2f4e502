import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { NO_STORE_HEADERS } from '../../platform/lib/web/envelope.ts'
import { textsFor } from '../../platform/lib/web/page.ts'
import { noSuchPath } from '../../platform/lib/web/rescode.ts'
import { PRODUCT_ROLES, type ProductRole } from '../test-plan/index.ts'
import { partnerOf, sendSandboxPage } from './guard.ts'
import type { SignedInPartner } from './session.ts'
import { doubleQuoted, fillTemplate, phpQuoted, readTemplate } from './snippets.ts'
import { productName } from './texts.ts'

/**
 * A seller's first program in each language: one file that implements every interface and sends the notices. `file`:
 * the download, and the last part of its URL. `needs`: what has to be installed.
 */
export const STARTERS = [
  { id: 'python', file: 'seller.py', name: 'Python', needs: 'Python 3.8+', quote: doubleQuoted },
  { id: 'java', file: 'Seller.java', name: 'Java', needs: 'Java 17+', quote: doubleQuoted },
  { id: 'php', file: 'seller.php', name: 'PHP', needs: 'PHP 7.4+', quote: phpQuoted },
].map(({ id, quote, ...names }) => {
  const template = readTemplate(`starters/${id}`)
  return { ...names, fill: (values: Readonly<Record<string, string>>) => fillTemplate(template, quote, values) }
})

/** The starters' products by their role in a test run, the same in each language. */
export const STARTER_PRODUCTS: Readonly<Record<ProductRole, string>> = {
  main: 'TICKET',
  later: 'LATER',
  review: 'REVIEW',
  level: 'SHOW',
  sold_out: 'SOLD-OUT',
}

/** The program with ids and the platform's URL; it reads CLIENT_SECRET from the environment. Undefined if unknown. */
function starterFor({ config }: Deps, { clientId, partnerId }: SignedInPartner, file: string): string | undefined {
  const values = { platformUrl: config.PARTNER_URL, clientId, partnerId: String(partnerId) }
  return STARTERS.find((starter) => starter.file === file)?.fill(values)
}

const named = z.object({ file: z.string() })

/** Starter programs, for signed-in partners: the files contain their ids. */
export const starterRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  app.get('/starters', (request, reply) => {
    const t = textsFor(request)
    const products = PRODUCT_ROLES.map((role) => ({ label: productName(role, t), id: STARTER_PRODUCTS[role] }))
    return sendSandboxPage(request, reply, 'sandbox/starters', { starters: STARTERS, products }, { section: 'docs' })
  })

  app.get('/starters/:file', async (request, reply) => {
    const { file } = named.parse(request.params)
    const source = starterFor(deps, partnerOf(request), file)
    if (source === undefined) throw noSuchPath()
    return reply
      .headers(NO_STORE_HEADERS)
      .header('Content-Disposition', `attachment; filename="${file}"`)
      .type('text/plain; charset=utf-8')
      .send(source)
  })
}
