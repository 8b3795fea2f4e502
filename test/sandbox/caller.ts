import { parseLossless, stringifyLossless } from '../../src/platform/lib/json/lossless.ts'
import { signedHeaders } from '../signer.ts'
import type { Lab } from './lab.ts'

/** A parsed answer of the headless API; tests check its fields with toMatchObject. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly [field: string]: unknown
}

export interface Caller {
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
}

/** The partner of the lab. */
export const labPartner = ({ partnerId, secret }: Lab): Caller => ({
  partnerId: String(partnerId),
  clientId: 'lab',
  clientSecret: secret,
})

/** Signs and sends a call of the headless API as a partner's CI does; `headers` override the usual ones. */
export async function call(
  lab: Lab,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: object | string,
  {
    caller = labPartner(lab),
    headers = {},
    signal,
  }: { caller?: Caller; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<ApiAnswer> {
  const target = `/sandbox/api${path}`
  const date = lab.world.clock.now().toUTCString()
  const signed = signedHeaders(caller, { method, path: target.replace(/\?.*$/, ''), date })
  const sent = typeof body === 'object' ? stringifyLossless(body) : body
  const answer = await fetch(lab.url + target, {
    method,
    headers: { ...signed, ...headers },
    ...(sent === undefined ? {} : { body: sent }),
    ...(signal ? { signal } : {}),
  })
  const text = await answer.text()
  const parsed = parseLossless(Buffer.from(text))
  const fields = 'value' in parsed ? (parsed.value as object) : {}
  return { ...fields, status: answer.status, headers: answer.headers, text }
}
