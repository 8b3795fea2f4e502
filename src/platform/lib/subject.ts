import { sha256 } from './crypto/digest.ts'

export interface Subject {
  readonly cid: number
  readonly userId: string
}

const ASCII = /^[\x20-\x7e]*$/

/**
 * The `sub` of a user: cid and user_id together (REFERENCE "Credentials"). It has 255 ASCII characters at most (OIDC Core
 * §2), so of a user_id with others it has the hash, behind a full stop, which no other `sub` has there.
 */
export const subjectOf = (user: Subject): string =>
  ASCII.test(user.userId) ? `${user.cid}-${user.userId}` : `${user.cid}.${sha256(user.userId).toString('base64url')}`
