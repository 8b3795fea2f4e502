import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HeldBody, hasBody, releaseWhenAnswered } from './read-body.ts'
import { RescodeError, unavailable } from './rescode.ts'

/** The share of the memory for bodies that all forms have together: most of their senders are not signed in yet. */
const HOLDER = 'forms'

/**
 * Makes this plugin read forms up to `bodyLimit`, and nothing else. Memory for the announced length of a form is
 * reserved. `parser` gives forms another shape than one value or list a name.
 */
export async function acceptForms(
  app: FastifyInstance,
  bodyLimit: number,
  parser?: (text: string) => Record<string, unknown>,
): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(formbody, { bodyLimit, ...(parser ? { parser } : {}) })
  releaseWhenAnswered(app)
  app.addHook('preParsing', async (request) => {
    if (!hasBody(request)) return
    const announced = Number(request.headers['content-length'] ?? bodyLimit)
    request.heldBody = new HeldBody(app.bodyMemory, HOLDER)
    if (!request.heldBody.add(Math.min(announced, bodyLimit))) throw unavailable()
  })
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
