import { randomUUID } from 'node:crypto'
import { enqueue } from '../../platform/db/jobs-store.ts'
import type { Deps } from '../../platform/deps.ts'
import { wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { linkToken, prefixOfLink, sentToken } from '../../platform/lib/crypto/link-token.ts'
import { parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { INVITATION_LIFETIME_S, LINK_MAIL_ATTEMPTS } from '../../platform/lib/member.ts'
import { MemberRefusal } from './errors.ts'
import * as store from './store.ts'
import type { LinkPurpose } from './wire.ts'

const LINK_LIFETIME_S: Readonly<Record<LinkPurpose, number>> = {
  invitation: INVITATION_LIFETIME_S,
  password: 3_600,
}

interface LinkToSend {
  /** The owner who invites, if it is one. */
  readonly invited_by?: string | null
  readonly linkId?: string
}

/** Also queues its mail, in the caller's transaction. False if this link was made before. */
export async function sendLink(
  { db, clock, keys }: Deps,
  memberId: string,
  purpose: LinkPurpose,
  { invited_by = null, linkId = randomUUID() }: LinkToSend,
): Promise<boolean> {
  const now = clock.now()
  const until = wholeSecondsAfter(now, LINK_LIFETIME_S[purpose])
  const { hash, expiresAt } = linkToken(keys, 'member', { linkId, expiresAt: until })
  const link = { link_id: linkId, link_hash: hash, purpose, expires_at: expiresAt, invited_by }
  if ((await store.insertLink(db, memberId, link, now)) === 0) return false
  await enqueue(db, 'send-member-mail', { linkId }, { key: `member-mail:${linkId}`, maxAttempts: LINK_MAIL_ATTEMPTS })
  return true
}

/** Finds the link of a token without using it. Throws MemberRefusal; for a forged or expired token without a query. */
export async function openMemberLink({ db, clock, keys }: Deps, token: string) {
  const read = parseToken(keys, prefixOfLink('member'), token)
  if (!read) throw new MemberRefusal('link_invalid')
  if (read.expiresAt <= clock.now()) throw new MemberRefusal('link_expired')
  const found = await store.findLink(db, read.hash)
  if (!found) throw new MemberRefusal('link_invalid')
  if (found.usedAt) throw new MemberRefusal('link_used')
  return found
}

/** A mail to send, with its secret `token`; undefined if it was sent, or its link can no longer be used. */
export async function findMemberMail({ db, clock, keys }: Deps, linkId: string) {
  const found = await store.findUnsent(db, linkId, clock.now())
  const token = found && sentToken(keys, 'member', found, found.linkHash)
  return found && token !== undefined ? { ...found, token } : undefined
}
