import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { spelled } from '../../platform/config/mounts.ts'
import { flushRepliesPerTick } from '../../platform/lib/web/flush-replies.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { pathAsSent } from '../../platform/lib/web/request-target.ts'
import {
  noticeSignature,
  type RejectionPolicy,
  readSignedCall,
  signatureTestRoutes,
  signedRoutes,
  type Warning,
} from '../mws/index.ts'
import { ANSWER_HEADERS, failureCodeOf, methodNotAllowed, noSuchPath, PATH, rejectionCode } from '../mws-wire/index.ts'
import type { NoticeDeps } from './accept-once.ts'
import { NOTICE_ENDPOINTS } from './notice.ts'

interface Options {
  readonly deps: NoticeDeps
  /** The limit of the signature tool, shared by all prefixes. */
  readonly limitTests: onRequestAsyncHookHandler
}

/** How notices, and calls to paths that do not exist, are refused. */
export const REJECTIONS: RejectionPolicy = {
  code: (rejected, url) => (rejected ? rejectionCode(rejected, url) : failureCodeOf(url)),
  isKept: ({ status }) => status !== 429,
  unreadable: () => ({ describe: 'the request cannot be read', status: 200 }),
}

/** B1 under one path prefix: the notices, behind the signature guard, and the signature tool. */
export async function noticeRoutes(app: FastifyInstance, { deps, limitTests }: Options): Promise<void> {
  signedRoutes(app, deps, REJECTIONS)
  flushRepliesPerTick(app)
  const paths = new Set(Object.values(PATH).map((tail) => spelled(app.prefix + tail)))
  app.addHook('onRequest', ({ raw }, _reply, done) =>
    done(paths.has(pathAsSent(raw.url ?? '')) ? undefined : noSuchPath()),
  )
  app.setNotFoundHandler(() => {
    throw methodNotAllowed()
  })

  const guarded = noticeSignature(deps)
  const incoming = (request: FastifyRequest) => {
    const call = readSignedCall(deps, request)
    const warn = (warning: Warning, about: object) =>
      app.sampledLog.write(
        {
          level: 'warn',
          kind: `notice ${warning}`,
          message: 'a notice was accepted with a warning',
          fields: () => ({ warning, partnerId: String(call.caller.partner_id), ...about }),
        },
        request.log,
      )
    return { ...call, requestId: request.id, warn }
  }
  for (const { path, name, accept } of NOTICE_ENDPOINTS) {
    app.post(path, { ...guarded, config: { notice: name } }, async (request, reply) => {
      const { answer } = await accept(deps, incoming(request))
      noteForLog(request, { code: 200 })
      reply.headers(ANSWER_HEADERS)
      return answer
    })
  }
  signatureTestRoutes(app, deps, limitTests)
}
