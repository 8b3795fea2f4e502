import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { namesThisMachine } from '../../../platform/lib/web/web-url.ts'
import type { Switches } from '../mistakes/mistakes.ts'
import type { Shop } from '../shop.ts'
import { registerApi } from './actions.ts'
import { registerOffice } from './office.ts'

/**
 * What people do in a real shop (a visitor at the gate, a clerk who decides on a refund): the back office at `/`, and
 * the same as a small API for scripts and tests below `/control`. Leave this folder out when you copy the example.
 * Neither asks for a password, so listen on a loopback address.
 */
export async function registerControl(app: FastifyInstance, shop: Shop, switches: Switches): Promise<void> {
  app.addHook('onRequest', refuseStrangers)
  await app.register(async (api) => registerApi(api, shop, switches), { prefix: '/control' })
  await app.register(async (office) => registerOffice(office, shop, switches))
}

/**
 * An onRequest hook against foreign pages in a browser on this machine, which the loopback address does not keep out.
 * Under DNS rebinding they have a foreign Host; when posting a form (CSRF) they have a foreign Origin or `null`, and
 * cannot forge Sec-Fetch-Site. Programs send neither header.
 */
async function refuseStrangers(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const error = originProblem(request)
  return error === undefined ? undefined : reply.code(403).type('application/json; charset=utf-8').send({ error })
}

function originProblem({ method, headers }: FastifyRequest): string | undefined {
  const { host = '', origin } = headers
  if (!namesThisMachine(host)) return 'open this page as http://localhost, not under another name'
  if (method === 'GET') return undefined
  const site = String(headers['sec-fetch-site'] ?? 'none')
  const own = [undefined, `http://${host}`].includes(origin) && ['same-origin', 'none'].includes(site)
  return own ? undefined : 'a page of another origin may not do this'
}
