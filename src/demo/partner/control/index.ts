import type { FastifyInstance } from 'fastify'
import type { Switches } from '../mistakes/mistakes.ts'
import type { Shop } from '../shop.ts'
import { registerApi } from './api.ts'
import { refuseStrangers } from './local-only.ts'
import { registerOffice } from './office/index.ts'

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
