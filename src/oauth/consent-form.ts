import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Deps } from '../deps.ts'
import { epochSeconds, fromEpochSeconds } from '../lib/clock.ts'
import { hmacSha256 } from '../lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey } from '../lib/crypto/keys.ts'
import { oauthFailure } from './failures.ts'

const FORM_LIFETIME_S = 30 * 60

const Signed = z.object({
  /** Becomes the id of the grant: posting one form twice is still one consent. */
  grantId: z.uuid(),
  /** Tells the browser session that was shown the form; made of its hash, whose first bytes are part of the cookie. */
  session: z.string(),
  shownAt: z.number(),
  query: z.string(),
})
type Signed = z.infer<typeof Signed>

const markOf = (keys: DerivedKeys, sessionHash: Buffer): string =>
  hmacSha256(keys.form, 'session\n', sessionHash).toString('base64url')

const macOf = (keys: DerivedKeys, text: string): string =>
  hmacSha256(keys.form, `consent\n${text}`).toString('base64url')

/**
 * The hidden field of the consent form (A1 row 13): the whole request as a query, bound to the session that saw it.
 * In-app web views lose a second cookie, so the form itself carries what protects it.
 */
export function signConsentForm({ keys, clock }: Deps, query: string, sessionHash: Buffer): string {
  const signed: Signed = {
    grantId: randomUUID(),
    session: markOf(keys, sessionHash),
    shownAt: epochSeconds(clock.now()),
    query,
  }
  const text = Buffer.from(JSON.stringify(signed)).toString('base64url')
  return `${text}.${macOf(keys, text)}`
}

export interface VerifiedForm {
  /** Of the grant too, if it is approved. */
  readonly formId: string
  /** From then on it is too old to be sent. */
  readonly expiresAt: Date
  /** The parameters that were shown, to be checked anew: an app may have been suspended in between. */
  readonly parameters: ReadonlyMap<string, string>
}

/** Refuses a form that is forged, altered, too old or another session's. */
export function verifyConsentForm({ keys, clock }: Deps, field: string, sessionHash: Buffer): VerifiedForm {
  const [text = '', mac = ''] = field.split('.', 2)
  const madeWith = everyKey(keys).find((key) => equalSecrets(mac, macOf(key, text)))
  if (!madeWith) throw oauthFailure('form_forged')
  const signed = Signed.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
  if (!equalSecrets(signed.session, markOf(madeWith, sessionHash))) throw oauthFailure('form_of_another_session')
  if (epochSeconds(clock.now()) - signed.shownAt > FORM_LIFETIME_S) throw oauthFailure('form_too_old')
  return {
    formId: signed.grantId,
    expiresAt: fromEpochSeconds(signed.shownAt + FORM_LIFETIME_S),
    parameters: new Map(new URLSearchParams(signed.query)),
  }
}
