import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { answerSuccess } from '../../platform/lib/web/envelope.ts'
import { flushRepliesPerTick } from '../../platform/lib/web/flush-replies.ts'
import { contractErrorHandler } from '../../platform/lib/web/misplaced.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { acceptAnyBodyUnread } from '../../platform/lib/web/read-body.ts'
import type { AccessKind } from './access-ledger.ts'
import { READS, readByUrl } from './bearer.ts'

/** A4 and A5. */
export async function resourceRoutes(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  app.setErrorHandler(contractErrorHandler(deps.config.ENVELOPE_HTTP_STATUS === 'native'))
  acceptAnyBodyUnread(app)
  flushRepliesPerTick(app)

  /** Not async, like `readByUrl`. */
  const answer = (request: FastifyRequest, reply: FastifyReply, kind: AccessKind): Promise<string> => {
    const read = READS[kind]
    return readByUrl(deps, request.raw.url ?? '', read).then((found) => {
      noteForLog(request, { appKey: found.app_key })
      const result = read.resultOf(found)
      app.accessLedger.count(found, kind)
      return answerSuccess(request, reply, result)
    })
  }

  app.post('/get_phonenumber', (request, reply) => answer(request, reply, 'phone'))

  app.post('/get_userinfo', (request, reply) => answer(request, reply, 'profile'))
}
