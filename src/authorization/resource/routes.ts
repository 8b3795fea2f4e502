import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import type { Scope } from '../../platform/lib/scope.ts'
import { answerSuccess, envelopeErrorHandler } from '../../platform/lib/web/envelope.ts'
import { flushRepliesPerTick } from '../../platform/lib/web/flush-replies.ts'
import { foundInBody } from '../../platform/lib/web/misplaced.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { acceptAnyBodyUnread, hasBody } from '../../platform/lib/web/read-body.ts'
import { readParameters } from '../oauth/index.ts'
import type { AccessKind } from './access-ledger.ts'
import { type FoundAccessToken, readWithToken, verifyAccessToken } from './bearer.ts'
import { resourceFailure } from './failures.ts'
import { type PhoneResult, userInfoResult } from './wire.ts'

/** A4 and A5. */
export async function resourceRoutes(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  const refuse = envelopeErrorHandler(deps.config.ENVELOPE_HTTP_STATUS === 'native')
  app.setErrorHandler((error, request, reply) => refuse(foundInBody(error, hasBody(request)), request, reply))
  acceptAnyBodyUnread(app)
  flushRepliesPerTick(app)

  /** Not async: failures that need no database are thrown without a promise; a rejected one costs more than all the checks. */
  const answer = (
    request: FastifyRequest,
    reply: FastifyReply,
    scope: Scope,
    kind: AccessKind,
    resultOf: (found: FoundAccessToken) => object,
  ): Promise<string> => {
    const token = verifyAccessToken(deps, readParameters(request.raw.url ?? ''))
    return readWithToken(deps, token, scope).then((found) => {
      noteForLog(request, { appKey: found.app_key })
      const result = resultOf(found)
      app.accessLedger.count(found, kind)
      return answerSuccess(request, reply, result)
    })
  }

  app.post('/get_phonenumber', (request, reply) => answer(request, reply, 'PHONE_NUMBER', 'phone', phoneResult))

  app.post('/get_userinfo', (request, reply) => answer(request, reply, 'USER_INFO', 'profile', userInfoResult))
}

function phoneResult({ phone_number }: FoundAccessToken): PhoneResult {
  if (phone_number === null) throw resourceFailure('no_phone_number')
  return { phone_number }
}
