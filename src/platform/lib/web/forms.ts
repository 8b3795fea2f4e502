import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { localized } from '../localized-text.ts'
import { formText } from './body-text.ts'
import { HeldBody, hasBody, ignoreContentType, releaseWhenAnswered } from './read-body.ts'
import { formDecoded } from './request-target.ts'
import { echo, type Failure, invalidRequest, RescodeError, unavailable } from './rescode.ts'

/** A form without fields has no body. A POST without body and of another type is not a form. */
const FORM = /^application\/x-www-form-urlencoded\b/i

/**
 * Accepts only forms, up to `bodyLimit`. Memory for their announced length counts against the share of `holder`: by
 * default all forms share one, as most senders are not signed in yet. `parser` replaces the default, a value or list
 * per name.
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
  // Parsed in a hook, since Fastify does not catch what a body parser throws.
  app.addHook('preValidation', (request, _reply, done) => {
    if (isUnparsed(request.body)) request.body = parser(formText(request, request.body.text))
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

/** Whether the body is a form that has not been parsed yet. */
const isUnparsed = (body: unknown): body is { readonly text: string } => typeof body === 'object' && body !== null

/** Value or list by name. Throws 20007 for a field that does not decode to UTF-8, as browsers send from a page in GBK. */
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

/** In the names of fields and what is typed into them: passwords, codes, tokens, and requests that carry such. */
const SECRET = /password|secret|"(?:authorization|code|credential|jwks|request|token|aes_key|\w+_token)":|\bgh\w\w_/i

/**
 * The fields of a form that was surely not carried out, to be sent again once the database is back; null without any,
 * and for a form with a secret, which no page repeats. Once its sender is known, work may have begun: a call to a partner
 * cannot be taken back, and must not be made twice.
 */
export function formToResend({ body, formOwner }: FastifyRequest, { status, outcomeUnknown }: Failure) {
  if (status !== 503 || outcomeUnknown || formOwner !== null) return null
  if (typeof body !== 'object' || body === null || SECRET.test(JSON.stringify(body))) return null
  const fields = Object.entries(body).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value] as const),
  )
  return fields.every(([, value]) => typeof value === 'string') ? fields : null
}

/** The submitted text of a field, to be shown again. */
export const typedText = (body: unknown, field: string): string => {
  const typed: unknown = Object(body)[field]
  return typeof typed === 'string' ? typed : ''
}

const forbiddenForm = (): RescodeError => new RescodeError(20003, { detail: 'a form from another origin' })

/**
 * An onRequest hook for routes that take forms: only our own pages may post to them (login CSRF). `Sec-Fetch-Site`,
 * which no page can forge, decides if present; older browsers send at least `Origin`. `Origin: null` is refused, since
 * any sandboxed frame sends that; our own pages send their origin even in old browsers, because their layout sets the
 * referrer policy `same-origin`. Programs such as curl send neither header, and have no cookies of other people.
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
