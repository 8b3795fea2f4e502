import { sha256 } from './crypto/digest.ts'

export interface Subject {
  readonly cid: number
  readonly userId: string
}

const ASCII = /^[\x20-\x7e]*$/
const plainSubject = ({ cid, userId }: Subject): string => `${cid}-${userId}`

/**
 * The `sub` of a user: cid and user_id together (REFERENCE "Credentials"). It has 255 ASCII characters at most (OIDC Core
 * §2), so of a user_id with others it has the hash, behind a full stop, which no other `sub` has there.
 */
export const subjectOf = (user: Subject): string =>
  ASCII.test(user.userId) ? plainSubject(user) : `${user.cid}.${sha256(user.userId).toString('base64url')}`

/** Whether a `sub` of ours means this user; earlier releases made all of them the same way, and their id_tokens are hints. */
export const isSubject = (sub: string, user: Subject): boolean => sub === subjectOf(user) || sub === plainSubject(user)
