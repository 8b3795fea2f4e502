import type { FastifyRequest, onRequestAsyncHookHandler, preHandlerHookHandler } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { methodAsSent } from '../../platform/lib/web/methods.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { valuesSent } from '../../platform/lib/web/raw-headers.ts'
import { NotAuthenticated } from '../mws-wire/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { authenticateCall, type PartnerCall, toleratedIn } from './authenticate.ts'
import { noticeBytes } from './body-guard.ts'
import type { Warning } from './diagnose/mistakes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: PartnerWithSecrets | null
    /** The rejection of a correctly signed call, held back until its body has been read. */
    laterRejection: NotAuthenticated | null
  }
}

const SIGNATURE_HEADERS = ['authorization', 'date', 'partnerid'] as const

/**
 * Guards the headless API and, as part of `noticeSignature`, the notice routes: only correctly signed calls pass. The
 * signature does not cover the body, so it is checked as soon as the headers are there (onRequest), and the bodies of
 * rejected calls are not read.
 */
export const mwsSignature =
  (deps: Deps): onRequestAsyncHookHandler =>
  async (request) => {
    const caller = await authenticateCall(deps, callOf(request))
    request.caller = caller
    noteForLog(request, { partnerId: String(caller.partner_id), clientId: caller.client_id })
  }

/**
 * Guards the notice routes. A correctly signed call that fails another check (the partner is suspended, the PartnerId
 * is another partner's) is rejected after its body has arrived, so that the complete call is kept.
 */
export function noticeSignature(deps: Deps): {
  onRequest: onRequestAsyncHookHandler
  preHandler: preHandlerHookHandler
} {
  const check = mwsSignature(deps)
  return {
    async onRequest(request, reply) {
      try {
        await check.call(this, request, reply)
      } catch (error) {
        if (!(error instanceof NotAuthenticated && error.verified)) throw error
        request.laterRejection = error
      }
    },
    preHandler: (request, _reply, done) => done(request.laterRejection ?? undefined),
  }
}

export function callerOf({ caller }: FastifyRequest): PartnerWithSecrets {
  if (!caller) throw new Error('the route is not behind the signature guard')
  return caller
}

export function callOf(request: FastifyRequest): PartnerCall {
  const { raw } = request
  const sent = {
    authorization: valuesSent(raw.rawHeaders, 'authorization'),
    date: valuesSent(raw.rawHeaders, 'date'),
    partnerid: valuesSent(raw.rawHeaders, 'partnerid'),
  }
  return {
    method: methodAsSent(request), // which the caller has signed
    url: raw.url ?? '',
    authorization: sent.authorization[0],
    date: sent.date[0],
    partnerId: sent.partnerid[0],
    // A proxy may have used another one than the first.
    doubled: SIGNATURE_HEADERS.filter((name) => sent[name].length > 1),
  }
}

export interface SignedCall {
  readonly caller: PartnerWithSecrets
  /** The request target as sent. */
  readonly url: string
  readonly bytes: Buffer
  /** Whether the body was encrypted; `bytes` are decrypted. */
  readonly decrypted: boolean
  /** About a live partner's call. */
  readonly warnings: readonly Warning[]
}

const NO_WARNINGS: readonly Warning[] = []

/** The call behind `noticeSignature`; throws CallRejected if something is wrong with its body. */
export function readSignedCall(deps: Pick<Deps, 'config'>, request: FastifyRequest): SignedCall {
  const caller = callerOf(request)
  const url = request.raw.url ?? ''
  // In stage sandbox the guard has already rejected such a call.
  const isUsual = request.headers.partnerid !== undefined && !url.includes('?')
  const warnings = isUsual || caller.stage !== 'live' ? NO_WARNINGS : toleratedIn(deps, caller, callOf(request))
  return { caller, url, ...noticeBytes(request, caller.aes_key), warnings }
}
