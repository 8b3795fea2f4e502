import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { envelopeErrorHandler, sendSuccess } from '../lib/envelope.ts'
import { noteForLog } from '../lib/observe.ts'
import { acceptAnyBodyUnread } from '../lib/unread-body.ts'
import { readParameters, type Scope } from '../oauth/wire.ts'
import { readWithToken } from './bearer.ts'
import { noPhoneNumber } from './errors.ts'
import { type PhoneResult, userInfoResult } from './wire.ts'

/** A4 and A5. */
export async function resourceRoutes(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  app.setErrorHandler(envelopeErrorHandler(deps.config.ENVELOPE_HTTP_STATUS === 'native'))
  acceptAnyBodyUnread(app)

  const read = async (request: FastifyRequest, scope: Scope) => {
    const found = await readWithToken(deps, readParameters(request.raw.url ?? ''), scope)
    noteForLog(request, { appKey: found.app_key })
    return found
  }

  app.post('/get_phonenumber', async (request, reply) => {
    const { phone_number } = await read(request, 'PHONE_NUMBER')
    if (phone_number === null) throw noPhoneNumber()
    const result: PhoneResult = { phone_number }
    return sendSuccess(request, reply, result)
  })

  app.post('/get_userinfo', async (request, reply) =>
    sendSuccess(request, reply, userInfoResult(await read(request, 'USER_INFO'))),
  )
}
