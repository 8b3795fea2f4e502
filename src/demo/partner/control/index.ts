import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { namesThisMachine } from '../../../platform/lib/web/web-url.ts'
import type { Switches } from '../mistakes/mistakes.ts'
import type { Shop } from '../shop.ts'
import { registerApi } from './actions.ts'
import { registerOffice } from './office.ts'

/**
 * What people do in a real shop (a visitor at the gate, a clerk who decides on a refund): as pages to click, the back
 * office at `/`, and as a small API for scripts and tests below `/control`. Both do the same. They are for the demo:
 * leave this folder out when you copy the example. They ask for no password, so they must be reachable from this
 * machine alone; listen on a loopback address.
 */
export async function registerControl(app: FastifyInstance, shop: Shop, switches: Switches): Promise<void> {
  app.addHook('onRequest', refuseStrangers)
  await app.register(async (api) => registerApi(api, shop, switches), { prefix: '/control' })
  await app.register(async (office) => registerOffice(office, shop, switches))
}

/**
 * An onRequest hook for what asks for no password. The listener lets only this machine in, but a browser on it runs
 * the pages of others too: one under a name that leads here has a foreign Host; one that posts a form (CSRF) has a
 * foreign Origin, or none that it shows (`null`), and cannot forge Sec-Fetch-Site. Programs send neither.
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
