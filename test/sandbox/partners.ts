import type { LightMyRequestResponse } from 'fastify'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner, type ShownPartner } from '../../src/ticketing/partners/wire.ts'
import type { World } from '../harness.ts'
import type { FakeSeller } from '../partner-calls/fake-seller.ts'

/** The headers that browsers send when a form of one of our pages is submitted. */
export const FORM = {
  'content-type': 'application/x-www-form-urlencoded',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  origin: 'null',
  'sec-fetch-site': 'same-origin',
}

export type SandboxPartner = ShownPartner & { readonly client_secret: string }

export const newSandboxPartner = (world: World, fields: Record<string, unknown> = {}): Promise<SandboxPartner> =>
  createPartner(world.deps, newPartner.parse({ name: 'Lakeside Tickets', ...fields }))

export const post = (
  world: World,
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> =>
  world.app.inject({
    method: 'POST',
    url,
    payload: new URLSearchParams(fields).toString(),
    headers: { ...FORM, ...headers },
  })

export const signIn = (
  world: World,
  { client_id, client_secret }: Pick<SandboxPartner, 'client_id' | 'client_secret'>,
  headers: Record<string, string> = {},
  return_to?: string,
): Promise<LightMyRequestResponse> =>
  post(world, '/sandbox/sign-in', { client_id, password: client_secret, ...(return_to ? { return_to } : {}) }, headers)

/** The session cookie of an answer, as a browser sends it back; empty without one. */
export const cookieOf = (response: LightMyRequestResponse): string =>
  /^(?:__Host-)?gatehouse_sandbox=[^;]+/.exec(String(response.headers['set-cookie'] ?? ''))?.[0] ?? ''

/** Signs in and returns the Cookie header of the session. */
export const sessionOf = async (
  world: World,
  partner: Pick<SandboxPartner, 'client_id' | 'client_secret'>,
): Promise<string> => cookieOf(await signIn(world, partner))

/** The same for a seller of test/partner-calls/fake-seller.ts. */
export const sellerSession = (world: World, { partnerId, secret }: FakeSeller): Promise<string> =>
  sessionOf(world, { client_id: `seller-${partnerId}`, client_secret: secret })

export const get = (world: World, url: string, cookie = '', headers: Record<string, string> = {}) =>
  world.app.inject({ url, headers: { accept: FORM.accept, cookie, ...headers } })
