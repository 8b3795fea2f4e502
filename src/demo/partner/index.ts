import Fastify, { type FastifyInstance, LogController } from 'fastify'
import { registerControl } from './control/index.ts'
import { registerInterfaces } from './interfaces.ts'
import { makeMistakes, mistakenDelivery, overlooking } from './mistakes/index.ts'
import type { DemoMistake } from './mistakes/mistakes.ts'
import { openOutbox, type Settings } from './outbox.ts'
import { openShop } from './shop.ts'

/** Keeps Fastify from loading schema compilers: no route has a schema. */
const noSchemas = () => {
  throw new Error('a route has no schema here')
}

/**
 * A small, correct ticket seller to copy from: it answers the platform's calls and sends notices. Leave out mistakes/ and
 * control/, which are for the demo only; the rest imports nothing from the service. Keep shop and outbox in a database;
 * this example keeps them in memory.
 */
export async function buildDemoPartner(settings: Settings): Promise<FastifyInstance> {
  const switches = new Set<DemoMistake>()
  const outbox = openOutbox(settings, mistakenDelivery(settings, switches))
  const shop = openShop(settings.now, outbox)
  const app = Fastify({
    loggerInstance: settings.log,
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  // Raw bytes, whatever the content type: order ids would lose digits in the usual JSON parser.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
  app.addHook('onClose', async () => outbox.close())

  await app.register(async (interfaces) => {
    makeMistakes(interfaces, settings, shop, switches)
    registerInterfaces(interfaces, settings, shop, overlooking(switches))
  })
  await app.register(async (control) => registerControl(control, shop, switches))
  return app
}
