import { randomBytes } from 'node:crypto'
import type { Deps } from '../deps.ts'
import { addSeconds, DAY_S, epochSeconds } from '../lib/clock.ts'
import { hmacSha256 } from '../lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey } from '../lib/crypto/keys.ts'

/**
 * Marks of browsers from which an account was signed in to before (OWASP, "device cookies"). With a mark a browser may try
 * to sign in to the same account while guesses from elsewhere have used up the limits. A mark names no user, opens no
 * session, and is valid for one account only.
 */

export const DEVICE_LIFETIME_S = 180 * DAY_S
/** People who share a browser: the latest few are known. */
const MAX_MARKS = 3
const ID_BYTES = 12
const MARK = /^([\w-]{16})\.([0-9a-z]{6,8})\.[\w-]{22}$/

/** Whose sign-in: a user's by passport, a partner's by clientId, its member's by clientId and address, an operator's by name. */
export interface Account {
  readonly kind: 'passport' | 'partner' | 'member' | 'operator'
  readonly name: string
}

const marksOf = (cookie: string | undefined): string[] =>
  (cookie ?? '').split('~', MAX_MARKS).filter((mark) => MARK.test(mark))

function signed(keys: Pick<DerivedKeys, 'device'>, { kind, name }: Account, id: string, endsAt: string): string {
  const mac = hmacSha256(keys.device, `${kind}\n${id}.${endsAt}\n${name}`)
  return `${id}.${endsAt}.${mac.subarray(0, 16).toString('base64url')}`
}

function belongsTo(deps: Pick<Deps, 'keys' | 'clock'>, account: Account, mark: string): boolean {
  const [id = '', endsAt = ''] = mark.split('.')
  if (Number.parseInt(endsAt, 36) <= epochSeconds(deps.clock.now())) return false
  return everyKey(deps.keys).some((key) => equalSecrets(mark, signed(key, account, id, endsAt)))
}

/** The id of this browser's mark for the account; undefined for a browser that is not known. */
export function knownDevice(
  deps: Pick<Deps, 'keys' | 'clock'>,
  account: Account,
  cookie: string | undefined,
): string | undefined {
  return marksOf(cookie)
    .find((mark) => belongsTo(deps, account, mark))
    ?.split('.', 1)[0]
}

/** The cookie of this browser after a good sign-in: a new mark for the account, and the marks of others that it had. */
export function rememberDevice(
  deps: Pick<Deps, 'keys' | 'clock'>,
  account: Account,
  cookie: string | undefined,
): string {
  const endsAt = epochSeconds(addSeconds(deps.clock.now(), DEVICE_LIFETIME_S)).toString(36)
  const mark = signed(deps.keys, account, randomBytes(ID_BYTES).toString('base64url'), endsAt)
  const others = marksOf(cookie).filter((other) => !belongsTo(deps, account, other))
  return [mark, ...others].slice(0, MAX_MARKS).join('~')
}
