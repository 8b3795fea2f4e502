import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, fromEpochMilliseconds } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey } from '../../platform/lib/crypto/keys.ts'
import { oidcFailure } from './failures.ts'

/**
 * A request that goes on at another address of ours: after sign-in, after a form from another site (whose browser does not
 * send our cookie), or in place of a request_uri that works once. It carries the parameters and, after sign-in, from when
 * on a sign-in satisfies the request, so that `prompt=login` and `max_age` do not ask for ever. It does not expire: a page
 * that was left open goes on, and what it asks for is checked anew.
 */

/** A sign-in that was asked for satisfies the request for so long, seconds. */
export const SIGN_IN_COUNTS_S = 30 * 60
/** With the path before it, what a sign-in page still returns to. */
const LONGEST = 7_500

const signed = z.object({
  purpose: z.string(),
  query: z.string(),
  /** Milliseconds since 1970; null where no sign-in was asked for. */
  signedInSince: z.number().nullable(),
  pushed: z.string().nullable(),
})

export interface Continuation {
  readonly query: string
  readonly signedInSince: Date | null
  /** The pushed request that this is, to be used up by its answer. */
  readonly pushed: string | null
}

type Purpose = 'authorize' | 'logout'

const macOf = (keys: DerivedKeys, text: string): string =>
  hmacSha256(keys.form, `continue\n${text}`).toString('base64url')

export function signContinuation({ keys }: Deps, purpose: Purpose, continuation: Continuation): string {
  const { query, signedInSince, pushed } = continuation
  const content = { purpose, query, signedInSince: signedInSince?.getTime() ?? null, pushed }
  const text = Buffer.from(JSON.stringify(content)).toString('base64url')
  const whole = `${text}.${macOf(keys, text)}`
  if (whole.length > LONGEST) throw oidcFailure('request_too_long')
  return whole
}

/** Refuses one that is forged or made for something else. */
export function verifyContinuation({ keys, clock }: Deps, purpose: Purpose, whole: string): Continuation {
  const [text = '', mac = ''] = whole.split('.', 2)
  if (!everyKey(keys).some((key) => equalSecrets(mac, macOf(key, text)))) throw oidcFailure('continuation_unusable')
  const content = signed.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
  if (content.purpose !== purpose) throw oidcFailure('continuation_unusable')
  const { query, signedInSince, pushed } = content
  const earliest = addSeconds(clock.now(), -SIGN_IN_COUNTS_S).getTime()
  const since = signedInSince === null ? null : fromEpochMilliseconds(Math.max(signedInSince, earliest))
  return { query, signedInSince: since, pushed }
}
