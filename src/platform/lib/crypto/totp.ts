import { Secret, TOTP } from 'otpauth'

/** Authenticators (RFC 6238), as every app for phones knows them: SHA-1, six digits, thirty seconds. */

const PERIOD_S = 30
/** Clocks of phones differ: the code before and the one after are accepted too. */
const WINDOW = 1
const SECRET_BYTES = 20

export interface TotpEnrolment {
  /** Base32, to be typed. */
  readonly secret: string
  /** `otpauth://…`, for a QR code. */
  readonly url: string
}

const totpOf = (secret: Secret, label = '') => new TOTP({ issuer: 'Gatehouse', label, secret, period: PERIOD_S })

/** `label`: whose it is, as the authenticator app shows it. */
export function newTotp(label: string): TotpEnrolment {
  const secret = new Secret({ size: SECRET_BYTES })
  return { secret: secret.base32, url: totpOf(secret, label).toString() }
}

/**
 * The number of the thirty seconds that this code is of, if it is one of about now; spaces do not count. Whoever accepts
 * it keeps the number: of simultaneous uses of a code exactly one may succeed.
 */
export function totpStep(secret: string, code: string, now: Date): number | undefined {
  const token = code.replaceAll(/[\s-]/g, '')
  const delta = totpOf(Secret.fromBase32(secret)).validate({ token, timestamp: now.getTime(), window: WINDOW })
  return delta === null ? undefined : Math.floor(now.getTime() / 1000 / PERIOD_S) + delta
}
