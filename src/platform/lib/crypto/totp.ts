import { Secret, TOTP } from 'otpauth'

/** TOTP (RFC 6238) with the parameters that every authenticator app supports: SHA-1, six digits, thirty seconds. */

const PERIOD_S = 30
/** Phone clocks drift: the previous and the next code are accepted too. */
const WINDOW = 1
const SECRET_BYTES = 20

const totpOf = (secret: Secret, label = '') => new TOTP({ issuer: 'Gatehouse', label, secret, period: PERIOD_S })

/** A secret in Base32, for typing by hand, and as `otpauth://…`; `label` names the account in the authenticator app. */
export function newTotp(label: string) {
  const secret = new Secret({ size: SECRET_BYTES })
  return { secret: secret.base32, url: totpOf(secret, label).toString() }
}
export type TotpEnrolment = ReturnType<typeof newTotp>

/**
 * The time step of a currently valid code, undefined for others; spaces are ignored. Whoever accepts a code must store
 * its step, since exactly one of simultaneous uses may succeed.
 */
export function totpStep(secret: string, code: string, now: Date): number | undefined {
  const token = code.replaceAll(/[\s-]/g, '')
  const delta = totpOf(Secret.fromBase32(secret)).validate({ token, timestamp: now.getTime(), window: WINDOW })
  return delta === null ? undefined : Math.floor(now.getTime() / 1000 / PERIOD_S) + delta
}
