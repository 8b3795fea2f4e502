import { randomBytes } from 'node:crypto'
import type { Deps } from '../deps.ts'
import { addSeconds, DAY_S, epochSeconds } from '../lib/clock.ts'
import { hmacSha256 } from '../lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey } from '../lib/crypto/keys.ts'

/**
 * Device cookies (OWASP): a mark that a browser has signed in to an account before, with which it may still try after
 * guesses from elsewhere have exhausted the limits. A mark names no user, opens no session, and is valid for one
 * account only.
 */

export const DEVICE_LIFETIME_S = 180 * DAY_S
/** For people who share a browser: only the latest accounts are remembered. */
const MAX_MARKS = 3
const ID_BYTES = 12
const MARK = /^([\w-]{16})\.([0-9a-z]{6,8})\.[\w-]{22}$/

/** Sign-in name: passport of a user, clientId of a partner, clientId and address of a member, name of an operator. */
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

/** The id of this browser's mark for the account; undefined for an unknown browser. */
export function knownDevice(
  deps: Pick<Deps, 'keys' | 'clock'>,
  account: Account,
  cookie: string | undefined,
): string | undefined {
  return marksOf(cookie)
    .find((mark) => belongsTo(deps, account, mark))
    ?.split('.', 1)[0]
}

/** Cookie after a successful sign-in: a new mark for this account, and the existing ones for others. */
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
