import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { MOUNT } from '../config/mounts.ts'
import type { Deps } from '../deps.ts'
import { ENCRYPTION_STATUS, KEY_DOES_NOT_FIT } from '../lib/crypto/aes-body.ts'
import { failureAnswerOf, logFailure } from '../lib/web/envelope.ts'
import { flushRepliesPerTick } from '../lib/web/flush-replies.ts'
import { noteForLog } from '../lib/web/observe.ts'
import { refused } from './answer.ts'
import { toleratedIn } from './authenticate.ts'
import { acceptRawBodies, jsonBytes, noticeBytes, readableBody } from './body-guard.ts'
import { PATH, refusalCode, spelled } from './endpoints.ts'
import { BaFailed, CallRejected, codeOf, firstVersion, methodNotAllowed, noSuchPath } from './errors.ts'
import { callerOf, callOf, noticeSignature } from './guard.ts'
import { NOTICES } from './notices.ts'
import { keepRejected } from './reject.ts'
import { pathAsSent } from './signature.ts'
import { testSignature } from './signature-test.ts'

const HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' } as const

/** Signature tests have a small body, if any, and anybody may call this route. */
const TEST_BODY_LIMIT = 64 * 1024

const NO_WARNINGS: readonly string[] = []

interface Options {
  readonly deps: Deps
  /** The limit of the signature tool, shared by all prefixes. */
  readonly limitTests: onRequestAsyncHookHandler
}

/** B1 under one path prefix: the notices behind the signature guard, and the signature tool. */
export async function partnerRoutes(app: FastifyInstance, { deps, limitTests }: Options): Promise<void> {
  acceptRawBodies(app, deps.config)
  flushRepliesPerTick(app)
  app.setErrorHandler((error, request, reply) => sendRefusal(deps, error, request, reply))
  const paths = new Set(Object.values(PATH).map((tail) => spelled(app.prefix + tail)))
  app.addHook('onRequest', ({ raw }, _reply, done) =>
    done(paths.has(pathAsSent(raw.url ?? '')) ? undefined : noSuchPath()),
  )
  app.setNotFoundHandler((request, reply) => sendRefusal(deps, methodNotAllowed(), request, reply))

  const guarded = noticeSignature(deps)
  /** The body of a success, which the handler returns (as in lib/envelope.ts). */
  const success = (request: FastifyRequest, reply: FastifyReply, answer: string): string => {
    noteForLog(request, { code: 200 })
    reply.headers(HEADERS)
    return answer
  }
  const received = (request: FastifyRequest) => {
    const caller = callerOf(request)
    const url = request.raw.url ?? ''
    // In stage sandbox the guard has already refused such a call.
    const isUsual = request.headers.partnerid !== undefined && !url.includes('?')
    const warnings = isUsual || caller.stage !== 'live' ? NO_WARNINGS : toleratedIn(caller, callOf(request))
    const warn = (warning: string, about: object) =>
      app.sampledLog.write(
        {
          level: 'warn',
          kind: `notice ${warning}`,
          message: 'a notice was accepted with a warning',
          fields: () => ({ warning, partnerId: String(caller.partner_id), ...about }),
        },
        request.log,
      )
    return { caller, url, ...noticeBytes(request, caller.aes_key), warnings, warn }
  }
  for (const { path, accept } of NOTICES) {
    app.post(path, guarded, async (request, reply) => success(request, reply, await accept(deps, received(request))))
  }

  app.post(PATH.signatureTest, { onRequest: limitTests, bodyLimit: TEST_BODY_LIMIT }, async (request, reply) => {
    const content = {
      type: request.headers['content-type'],
      encryption: request.headers[ENCRYPTION_STATUS],
      bytes: () => jsonBytes({ body: request.body, headers: { 'content-type': 'application/json' } } as FastifyRequest),
    }
    const answer = await testSignature(
      deps,
      { ...callOf(request), host: request.headers.host, address: request.ip },
      content,
    )
    noteForLog(request, { code: answer.code })
    return reply.headers(HEADERS).send(JSON.stringify(answer))
  })
}

/** Below a prefix there is only B1: a caller of another path there is a partner's program. */
export async function unknownPartnerPaths(app: FastifyInstance, { deps }: Pick<Options, 'deps'>): Promise<void> {
  const first = `${spelled(app.prefix)}/lv/`
  app.setErrorHandler((error, request, reply) => sendRefusal(deps, error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const isOfFirst = request.raw.url?.startsWith(first)
    return sendRefusal(deps, isOfFirst ? firstVersion(app.prefix + MOUNT) : noSuchPath(), request, reply)
  })
}

async function sendRefusal(deps: Deps, thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const claimed = String(request.caller?.partner_id ?? claimedPartnerId(request))
  if (!(thrown instanceof CallRejected)) {
    const { failure, ...error } = failureAnswerOf(thrown, request)
    const unreadable = error.rescode === 20007
    const code = refusalCode(request.raw.url ?? '')
    noteForLog(request, { code, ...(failure.detail ? { detail: failure.detail } : {}) })
    const describe = unreadable ? 'the request cannot be read' : 'the platform cannot respond now; try again later'
    return reply
      .code(unreadable ? 200 : (failure.status ?? 500))
      .headers({ ...HEADERS, ...failure.headers })
      .send(JSON.stringify(refused(describe, claimed, code)))
  }
  const code = codeOf(thrown, request.raw.url ?? '')
  noteForLog(request, { code, detail: thrown.detail })
  const answer = JSON.stringify(refused(thrown.describe, claimed, code))
  if (thrown.status === 200) {
    const { headers, caller } = request
    const verified = caller !== null || (thrown instanceof BaFailed && thrown.verified)
    // A body decrypted with a wrong key is not shown.
    if (thrown.describe === KEY_DOES_NOT_FIT) request.decryptedBody = undefined
    const decrypted = request.decryptedBody !== undefined
    const body = readableBody(request)
    const seen = { call: callOf(request), verified, address: request.ip, headers, body, decrypted }
    const rejection = { ...seen, reason: thrown.message, answer }
    const kept = keepRejected(deps, rejection).catch((error: Error) => {
      logFailure(request, error, 'a rejected call could not be recorded')
    })
    if (verified) await kept
  }
  return reply
    .code(thrown.status)
    .headers({ ...HEADERS, ...thrown.headers })
    .send(answer)
}

/** The PartnerId that the caller sent: repeating it reveals nothing. */
function claimedPartnerId({ headers }: FastifyRequest): string {
  const given = String(headers.partnerid ?? '')
  return /^\d{1,19}$/.test(given) ? given : ''
}
