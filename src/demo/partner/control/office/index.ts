import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ROOT } from '../../../../platform/lib/root.ts'
import { chooseLocale } from '../../../../platform/lib/web/locale.ts'
import { Refusal } from '../../answer.ts'
import type { Switches } from '../../mistakes/mistakes.ts'
import type { Shop } from '../../shop.ts'
import { ACTIONS, type Action, act, switchMistakes } from '../api.ts'
import { FORMS } from './forms.ts'
import { officeView, type Said } from './view.ts'

const VIEWS = fileURLToPath(new URL('views', ROOT))
const require = createRequire(import.meta.url)
const PICO = require.resolve('@picocss/pico/css/pico.classless.min.css')
const INTER = require.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2')

/** No script, and nothing from elsewhere. The referrer stays, or Chromium would send our own forms with Origin: null. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cache-Control': 'no-store',
}

/**
 * The back office: one page, and a form for whatever people do there. A form that worked leads back to the page, so
 * that reloading does nothing twice; one that did not shows the page with the reason, status 400.
 */
export function registerOffice(app: FastifyInstance, shop: Shop, switches: Switches): void {
  const eta = new Eta({ views: VIEWS, cache: true })
  const show = (request: FastifyRequest, reply: FastifyReply, said: Said) => {
    const locale = chooseLocale({ acceptLanguage: request.headers['accept-language'] })
    return reply
      .headers({ ...HEADERS, Vary: 'Accept-Language' })
      .type('text/html; charset=utf-8')
      .send(eta.render('demo-office/page', officeView(shop, switches, locale, said)))
  }
  const form = (path: string, submit: (form: URLSearchParams) => string | Promise<string>): void => {
    app.post(`/office/${path}`, async (request, reply) => {
      const done = await submit(new URLSearchParams(String(request.body ?? '')))
      return reply.redirect(`/?done=${done}#said`, 303)
    })
  }

  app.get<{ Querystring: { done?: string } }>('/', (request, reply) =>
    show(request, reply, { done: String(request.query.done ?? '') }),
  )
  file(app, 'pico.classless.min.css', 'text/css; charset=utf-8', readFileSync(PICO))
  file(app, 'office.css', 'text/css; charset=utf-8', readFileSync(`${VIEWS}/assets/demo-office.css`))
  file(app, 'inter-latin-wght-normal.woff2', 'font/woff2', readFileSync(INTER))
  for (const action of Object.keys(ACTIONS) as Action[]) {
    form(action, async (fields) =>
      (await act(shop, action, FORMS[action](fields, shop))).length > 0 ? action : 'unchanged',
    )
  }
  form('mistakes', (fields) => {
    switchMistakes(switches, { mistakes: fields.getAll('mistakes') })
    return switches.size > 0 ? 'mistakes' : 'honest'
  })

  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof Refusal)) throw error
    return show(request, reply.code(400), { problem: error.message })
  })
}

function file(app: FastifyInstance, name: string, type: string, content: Buffer): void {
  app.get(`/office/${name}`, (_request, reply) =>
    reply
      .headers({ ...HEADERS, 'Cache-Control': 'max-age=300' })
      .type(type)
      .send(content),
  )
}
