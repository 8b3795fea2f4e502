import type { Alg } from '../../src/authorization/oidc/store.ts'
import { FORM } from './asks.ts'
import type { Name } from './contestants/contestant.ts'
import { CALLBACK, seedCodes } from './fixtures/codes.ts'
import { CID, userInfo } from './fixtures/people.ts'
import { APP_SECRET, APPS, type FilledWorld } from './fixtures/world.ts'
import type { Ask } from './load/ask.ts'

/** The requests to the standard OAuth endpoints, with the expected responses. */

const CLIENT = { client_id: APPS.fixed, client_secret: APP_SECRET }
const STANDARD_SCOPE = 'openid profile phone offline_access'

const subjectOf = (user: number): string => `${CID}-${userInfo(user).user_id}`

export function* standardUserInfoAsks({ live }: FilledWorld): Iterable<Ask> {
  for (const { token, user } of live) {
    const { name, big_avatar_url: picture } = userInfo(user)
    const fields = { sub: subjectOf(user), name, picture }
    yield {
      target: '/oauth2/userinfo',
      headers: { Authorization: `Bearer ${token}` },
      expect: { kind: 'fields', fields },
    }
  }
}

export function* introspectAsks({ live }: FilledWorld): Iterable<Ask> {
  for (const { token, user } of live) {
    const fields = { active: true, sub: subjectOf(user), client_id: APPS.fixed, scope: 'USER_INFO PHONE_NUMBER' }
    const body = new URLSearchParams({ ...CLIENT, token }).toString()
    yield { target: '/oauth2/introspect', headers: FORM, body, expect: { kind: 'fields', fields } }
  }
}

/** Code exchanges whose responses contain an id_token, signed by Gatehouse with this algorithm. */
export const idTokenAsks =
  (alg: Alg) =>
  async (world: FilledWorld, _name: Name, count: number): Promise<Ask[]> => {
    await world.pool.query('update micro_app set id_token_alg = $1 where app_key = $2', [alg, APPS.fixed])
    const codes = await seedCodes(world, count, 'standard')
    const expect = { kind: 'tokens', enveloped: false, scope: STANDARD_SCOPE, idToken: true } as const
    return codes.map((code) => {
      const form = { ...CLIENT, grant_type: 'authorization_code', code, redirect_uri: CALLBACK }
      return { target: '/oauth2/token', headers: FORM, body: new URLSearchParams(form).toString(), expect }
    })
  }
