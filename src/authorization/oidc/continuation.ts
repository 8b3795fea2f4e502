import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, fromEpochMilliseconds } from '../../platform/lib/clock.ts'
import { openSignedText, signedText } from '../../platform/lib/crypto/carried-text.ts'
import type { Query } from '../../platform/lib/web/request-target.ts'
import { oidcFailure } from './failures.ts'

/**
 * A signed request that continues at another address of ours: after sign-in, after a form posted from another site (to which
 * the browser does not send our cookie), or in place of a one-time request_uri. `signedInSince`, from when on a sign-in
 * satisfies it, keeps `prompt=login` and `max_age` from asking for ever. It does not expire: it is validated again.
 */

/** How long a sign-in that was asked for satisfies the request, seconds. */
export const SIGN_IN_COUNTS_S = 30 * 60
/** With the path before it, short enough for the sign-in page to return to. */
const LONGEST = 7_500

const signed = z.object({
  purpose: z.string(),
  query: z.string(),
  /** Milliseconds since 1970; null if no sign-in was asked for. */
  signedInSince: z.number().nullable(),
  pushed: z.string().nullable(),
})

export interface Continuation {
  readonly query: string
  readonly signedInSince: Date | null
  /** The pushed request that this is, which is deleted once it is answered. */
  readonly pushed: string | null
}

type Purpose = 'authorize' | 'logout'

const CARRIED_AS = 'continue'

export function signContinuation({ keys }: Deps, purpose: Purpose, continuation: Continuation): string {
  const { query, signedInSince, pushed } = continuation
  const content = { purpose, query, signedInSince: signedInSince?.getTime() ?? null, pushed }
  const whole = signedText(keys, CARRIED_AS, JSON.stringify(content))
  if (whole.length > LONGEST) throw oidcFailure('request_too_long')
  return whole
}

const LANGUAGES = /^[A-Za-z0-9 -]{1,256}$/

/** The address that continues a request, with the languages that it asks for: pages read those from their address. */
export function continuationUrl(path: string, signed: string, uiLocales = ''): string {
  const languages = LANGUAGES.test(uiLocales) ? { ui_locales: uiLocales } : {}
  return `${path}?${new URLSearchParams({ [CARRIED_AS]: signed, ...languages })}`
}

/** Our pages' language links add `ui_locales` too. */
const OWN_PARAMETERS = [CARRIED_AS, 'ui_locales']

/** Ours comes without any request parameters; a `continue` among those is an unknown parameter, which is ignored. */
export function continuationIn({ values }: Query): string | undefined {
  const isOurs = [...values.keys()].every((name) => OWN_PARAMETERS.includes(name))
  return isOurs ? values.get(CARRIED_AS) : undefined
}

/** Refuses one that is forged or was signed for another purpose. */
export function verifyContinuation({ keys, clock }: Deps, purpose: Purpose, whole: string): Continuation {
  const opened = openSignedText(keys, CARRIED_AS, whole)
  if (!opened) throw oidcFailure('continuation_unusable')
  const content = signed.parse(JSON.parse(opened.text))
  if (content.purpose !== purpose) throw oidcFailure('continuation_unusable')
  const { query, signedInSince, pushed } = content
  const earliest = addSeconds(clock.now(), -SIGN_IN_COUNTS_S).getTime()
  const since = signedInSince === null ? null : fromEpochMilliseconds(Math.max(signedInSince, earliest))
  return { query, signedInSince: since, pushed }
}
