import type { FastifyReply, FastifyRequest } from 'fastify'

/** How a browser or a script on this machine calls us; any port, for it may be forwarded. */
const OURS = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i

/**
 * An onRequest hook for what asks for no password. The listener lets only this machine in, but a browser on it runs
 * the pages of others too: one under a name that leads here (DNS rebinding) has a foreign Host; one that posts a form
 * (CSRF) has a foreign Origin, or none that it shows (`null`), and cannot forge Sec-Fetch-Site. Programs send neither.
 */
export async function refuseStrangers(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const error = strangeness(request)
  return error === undefined ? undefined : reply.code(403).type('application/json; charset=utf-8').send({ error })
}

function strangeness({ method, headers }: FastifyRequest): string | undefined {
  const { host = '', origin } = headers
  if (!OURS.test(host)) return 'open this page as http://localhost, not under another name'
  if (method === 'GET') return undefined
  const site = String(headers['sec-fetch-site'] ?? 'none')
  const own = [undefined, `http://${host}`].includes(origin) && ['same-origin', 'none'].includes(site)
  return own ? undefined : 'a page of another origin may not do this'
}
