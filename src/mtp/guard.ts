import type { FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import type { Deps } from '../deps.ts'
import { noteForLog } from '../lib/observe.ts'
import type { PartnerWithSecrets } from '../registry/partner.ts'
import { authenticateCall, type PartnerCall } from './authenticate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: PartnerWithSecrets | null
  }
}

const SIGNATURE_HEADERS = ['authorization', 'date', 'partnerid'] as const

/** The preHandler of the three notice routes: only a rightly signed call gets further. */
export const mwsSignature =
  (deps: Deps): preHandlerAsyncHookHandler =>
  async (request) => {
    request.caller = await authenticateCall(deps, callOf(request))
    noteForLog(request, { partnerId: String(request.caller.partner_id) })
  }

/** The partner that the guard has let in. */
export function callerOf({ caller }: FastifyRequest): PartnerWithSecrets {
  if (!caller) throw new Error('the route is not behind the signature guard')
  return caller
}

export function callOf({ method, raw, headers }: FastifyRequest): PartnerCall {
  const text = (name: string): string | undefined => {
    const value = headers[name]
    return Array.isArray(value) ? value[0] : value
  }
  return {
    method,
    url: raw.url ?? '',
    authorization: text('authorization'),
    date: text('date'),
    partnerId: text('partnerid'),
    doubled: doubledHeaders(raw.rawHeaders),
  }
}

/** Node keeps only the first of two Authorization or Date headers; which one a proxy before us believed is unknown. */
function doubledHeaders(rawHeaders: readonly string[]): string[] {
  const names = rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase())
  return SIGNATURE_HEADERS.filter((name) => names.indexOf(name) !== names.lastIndexOf(name))
}
