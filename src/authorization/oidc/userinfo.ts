import type { Deps } from '../../platform/deps.ts'
import { NamedFailure } from '../../platform/lib/failure.ts'
import { internationalNumber } from '../../platform/lib/phone-number.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import { readBearer } from '../../platform/lib/web/basic-credentials.ts'
import type { Query } from '../../platform/lib/web/request-target.ts'
import type { Parameters } from '../oauth/index.ts'
import { describeToken, type LiveToken, resourceFailure } from '../resource/index.ts'
import { oidcFailure } from './failures.ts'
import { bearerForm, namesOf, type UserInfo } from './messages.ts'
import { readKnown } from './wire.ts'

const GENDERS: Readonly<Record<string, 'male' | 'female'>> = { '1': 'male', '2': 'female' }
const E164 = /^\+[1-9]\d{4,14}$/
const PARAMETERS = namesOf(bearerForm)

/** The token of a request, as of RFC 6750 §2.1 or §2.2; never from the query. */
function tokenOf(authorization: string | undefined, form: Parameters): string {
  const inHeader = readBearer(authorization)
  const inForm = form.get('access_token')
  if (inHeader !== undefined && inForm !== undefined) throw oidcFailure('access_token_twice')
  const token = inHeader ?? inForm
  if (!token) throw oidcFailure('access_token_missing')
  return token
}

/** A caller that discloses the claims must record the read. */
export async function readUserInfo(
  deps: Deps,
  { authorization, form }: { readonly authorization: string | undefined; readonly form: Query },
): Promise<{ token: LiveToken; claims: UserInfo }> {
  const token = await describeToken(deps, tokenOf(authorization, readKnown(form, PARAMETERS)))
  if (token instanceof NamedFailure) throw token
  const { scopes } = token
  const profile = scopes.includes('profile') || scopes.includes('USER_INFO')
  const phone = scopes.includes('phone') || scopes.includes('PHONE_NUMBER')
  const person = { cid: token.cid, userId: token.user_id }
  if (!profile && !phone && !scopes.includes('openid')) {
    throw resourceFailure('token_lacks_scope', { about: { appKey: token.app_key, ...person } })
  }
  const sub = subjectOf(person)
  const claims = { sub, ...(profile ? profileOf(token) : {}), ...(phone ? phoneOf(deps, token) : {}) }
  return { token, claims }
}

function profileOf({ name, gender, big_avatar_url, profile_updated_at }: LiveToken) {
  const known = GENDERS[gender]
  return {
    name,
    preferred_username: name,
    ...(known ? { gender: known } : {}),
    picture: big_avatar_url,
    updated_at: Math.floor(profile_updated_at),
  }
}

/** Operators enter phone numbers; nobody has verified them. */
function phoneOf({ config }: Deps, { phone_number: stored }: LiveToken) {
  const number = stored && internationalNumber(stored, config.PHONE_COUNTRY_CODE)
  return number && E164.test(number) ? { phone_number: number, phone_number_verified: false as const } : {}
}
