import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { acceptForms } from '../../platform/lib/web/forms.ts'
import { answerStandard, sendStandardFailure, standardFailureOf } from '../../platform/lib/web/oauth-response.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { tooManyRequests } from '../../platform/lib/web/rescode.ts'
import { networkOf } from '../../platform/throttle/index.ts'
import { LONGEST_LOGOUT_TOKEN, type Provider, UpstreamFailure } from '../upstream/index.ts'
import { endFromUpstream } from './upstream-sign-in.ts'

/** Registered at the provider as backchannel_logout_uri. */
const PATH = '/sign-out/backchannel-logout'
const FORM_LIMIT = 16 * 1024
const RETRY_S = 10
/** Tokens that were refused, of one network. Those of the provider always count: many may end at once, and strangers may share its network. */
const REFUSED = { kind: 'logout token refused', most: 60, windowS: 60 }

const form = z.object({ logout_token: z.string().min(1).max(LONGEST_LOGOUT_TOKEN) })

/** What the provider calls when a session there is over (OpenID Connect Back-Channel Logout 1.0). */
export const upstreamLogout: FastifyPluginAsync<{ deps: Deps & { readonly upstream: Provider } }> = async (
  app,
  { deps },
) => {
  await acceptForms(app, FORM_LIMIT)
  app.setErrorHandler((error, request, reply) => sendStandardFailure(reply, standardFailureOf(error, request)))

  app.post(PATH, async (request, reply) => {
    try {
      const read = form.safeParse(request.body)
      if (!read.success) throw new UpstreamFailure('untrusted', 'there is none')
      await endFromUpstream(deps, await deps.upstream.endedThere(read.data.logout_token))
      return answerStandard(reply, 200, {})
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      const isAway = error.reason === 'away'
      if (isAway) reply.header('Retry-After', String(RETRY_S))
      else refuseTooMany(request)
      note(request, error)
      const description = isAway ? 'the keys of the provider cannot be read' : 'the logout token is not accepted'
      const problem = { error: isAway ? 'temporarily_unavailable' : 'invalid_request', error_description: description }
      return answerStandard(reply, isAway ? 503 : 400, problem)
    }
  })

  function refuseTooMany(request: FastifyRequest): void {
    const { uses, endsInMs } = app.rateLimiter.count(REFUSED, networkOf(request.ip))
    if (uses > REFUSED.most) throw tooManyRequests(Math.ceil(endsInMs / 1000))
  }

  function note(request: FastifyRequest, { reason, message }: UpstreamFailure): void {
    noteForLog(request, { detail: `logout token: ${message}` })
    const line = { level: 'warn', kind: `logout token ${reason}`, message: 'a logout token was refused' } as const
    app.sampledLog.write({ ...line, fields: () => ({ reason, detail: message }) }, request.log)
  }
}
