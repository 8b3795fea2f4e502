import type { FastifyRequest } from 'fastify'
import { RescodeError } from './rescode.ts'

const forbiddenForm = (): RescodeError => new RescodeError(20003, { detail: 'a form from another origin' })

/**
 * An onRequest hook for routes that take forms: only our own pages may post to them (login CSRF). `Sec-Fetch-Site`,
 * which no page can forge, decides where it is sent; browsers without it send at least `Origin`. `Origin: null` is
 * what our own pages send under `Referrer-Policy: no-referrer`, so it proves nothing and is let through.
 */
export function refuseForeignForms(publicUrl: string, refusal: () => RescodeError = forbiddenForm) {
  const ours = new URL(publicUrl).origin
  return async ({ method, headers }: FastifyRequest): Promise<void> => {
    if (method !== 'POST') return
    const site = headers['sec-fetch-site']
    const own =
      site === undefined
        ? [undefined, 'null', ours].includes(headers.origin)
        : ['same-origin', 'none'].includes(String(site))
    if (!own) throw refusal()
  }
}
