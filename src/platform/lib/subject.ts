import { sha256 } from './crypto/digest.ts'

export interface Subject {
  readonly cid: number
  readonly userId: string
}

const ASCII = /^[\x20-\x7e]*$/

/**
 * The `sub` of a user: cid and user_id together (REFERENCE "Credentials"). A `sub` has at most 255 ASCII characters
 * (OIDC Core §2), so a user_id with others is hashed; the full stop keeps those apart from plain ones.
 */
export const subjectOf = (user: Subject): string =>
  ASCII.test(user.userId) ? `${user.cid}-${user.userId}` : `${user.cid}.${sha256(user.userId).toString('base64url')}`
