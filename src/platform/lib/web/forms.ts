import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { localized } from '../localized-text.ts'
import { formText } from './body-text.ts'
import { HeldBody, hasBody, ignoreContentType, releaseWhenAnswered } from './read-body.ts'
import { formDecoded } from './request-target.ts'
import { echo, invalidRequest, RescodeError, unavailable } from './rescode.ts'

/** A form without fields has no body; of any other type a POST without one is no form. */
const FORM = /^application\/x-www-form-urlencoded\b/i

/**
 * Reads only forms, up to `bodyLimit`. Memory for their announced length is in the share of `holder`: all forms have
 * one together, as most of their senders are not signed in yet. `parser` gives forms another shape than one value or
 * list a name.
 */
export async function acceptForms(
  app: FastifyInstance,
  bodyLimit: number,
  {
    parser = readFields,
    holder = 'forms',
  }: { readonly parser?: (text: string) => object; readonly holder?: string } = {},
): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(formbody, { bodyLimit, parser: (text) => ({ text }) })
  // Fastify does not catch what a parser of bodies throws, but it does catch what a hook throws.
  app.addHook('preValidation', (request, _reply, done) => {
    if (isSent(request.body)) request.body = parser(formText(request, request.body.text))
    done()
  })
  releaseWhenAnswered(app)
  ignoreContentType(app, (request) => !hasBody(request) && !FORM.test(request.headers['content-type'] ?? ''))
  app.addHook('preParsing', async (request) => {
    if (!hasBody(request)) return
    const announced = Number(request.headers['content-length'] ?? bodyLimit)
    request.heldBody = new HeldBody(app.bodyMemory, holder)
    if (!request.heldBody.add(Math.min(announced, bodyLimit))) throw unavailable()
  })
}

/** A form as it was sent. */
const isSent = (body: unknown): body is { readonly text: string } => typeof body === 'object' && body !== null

/** Value or list by name. Throws 20007 for a field that is not UTF-8 once it is decoded, as browsers send it from a page in GBK. */
function readFields(text: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null)
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const [name, value] = [equals < 0 ? pair : pair.slice(0, equals), equals < 0 ? '' : pair.slice(equals + 1)]
    const [field, content] = [formDecoded(name), formDecoded(value)]
    if (field === undefined || content === undefined) {
      throw invalidRequest(
        localized('is-not-utf8', { field: field === undefined ? localized('name-of-field') : echo(field) }),
      )
    }
    const before = fields[field]
    if (Array.isArray(before)) before.push(content)
    else fields[field] = before === undefined ? content : [before, content]
  }
  return fields
}

const forbiddenForm = (): RescodeError => new RescodeError(20003, { detail: 'a form from another origin' })

/**
 * An onRequest hook for routes that take forms: only our own pages may post to them (login CSRF). `Sec-Fetch-Site`,
 * which no page can forge, decides where it is sent; browsers without it send at least `Origin`. `Origin: null` alone
 * is what any sandboxed frame sends, so it is refused; our own pages send their origin in old browsers too, because
 * their layout sets the referrer policy `same-origin`. Programs such as curl send neither, and have no cookies of other
 * people.
 */
export function refuseForeignForms(publicUrl: string, refusal: () => Error = forbiddenForm) {
  const ours = new URL(publicUrl).origin
  return async ({ method, headers }: FastifyRequest): Promise<void> => {
    if (method !== 'POST') return
    const site = headers['sec-fetch-site']
    const own =
      site === undefined ? [undefined, ours].includes(headers.origin) : ['same-origin', 'none'].includes(String(site))
    if (!own) throw refusal()
  }
}
