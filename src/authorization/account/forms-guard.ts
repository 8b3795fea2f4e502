import type { FastifyInstance } from 'fastify'
import type { Config } from '../../platform/config/index.ts'
import { failureAnswerOf } from '../../platform/lib/web/envelope.ts'
import { acceptForms, refuseForeignForms } from '../../platform/lib/web/forms.ts'
import { sendErrorPage } from '../../platform/lib/web/page.ts'
import { limitPages } from '../../platform/throttle/index.ts'

const FORM_LIMIT = 16 * 1024

/** What the pages of this room have in common: forms of our own pages alone, a limit, and failures as pages. */
export async function preparePages(app: FastifyInstance, config: Config): Promise<void> {
  await acceptForms(app, FORM_LIMIT)
  app.addHook('onRequest', limitPages(app, config))
  app.addHook('onRequest', refuseForeignForms(config.PUBLIC_URL))
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, failureAnswerOf(error, request), true))
}
