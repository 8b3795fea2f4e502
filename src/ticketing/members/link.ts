import { randomUUID } from 'node:crypto'
import { enqueue } from '../../platform/db/jobs-store.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { linkToken, prefixOfLink, sentToken } from '../../platform/lib/crypto/link-token.ts'
import { parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { INVITATION_LIFETIME_S, LINK_MAIL_ATTEMPTS, type MemberRole } from '../../platform/lib/member.ts'
import { MemberRefusal } from './errors.ts'
import * as store from './link-store.ts'
import type { LinkPurpose } from './wire.ts'

/** Seconds for which a link can be used. */
const LINK_LIFETIME_S: Readonly<Record<LinkPurpose, number>> = {
  invitation: INVITATION_LIFETIME_S,
  password: 3_600,
}

/**
 * Creates a link for a member and queues its mail, both in the caller's transaction. `invited_by`: the owner who invites,
 * if it is one.
 */
export async function sendLink(
  { db, clock, keys }: Deps,
  memberId: string,
  purpose: LinkPurpose,
  invited_by: string | null = null,
): Promise<void> {
  const now = clock.now()
  const linkId = randomUUID()
  const { hash, expiresAt } = linkToken(keys, 'member', {
    linkId,
    expiresAt: wholeSecondsAfter(now, LINK_LIFETIME_S[purpose]),
  })
  const link = { link_id: linkId, link_hash: hash, purpose, expires_at: expiresAt, invited_by }
  await store.insertLink(db, memberId, link, now)
  await enqueue(db, 'send-member-mail', { linkId }, { key: `member-mail:${linkId}`, maxAttempts: LINK_MAIL_ATTEMPTS })
}

/** A link that can be used, as a page shows it. */
export interface OpenedLink {
  readonly linkId: string
  readonly memberId: string
  readonly partnerId: bigint
  readonly purpose: LinkPurpose
  readonly mail: string
  readonly role: MemberRole
}

/** Finds the link of a token without using it. Throws MemberRefusal; for a forged or expired token without a query. */
export async function openMemberLink({ db, clock, keys }: Deps, token: string): Promise<OpenedLink> {
  const read = parseToken(keys, prefixOfLink('member'), token)
  if (!read) throw new MemberRefusal('link_invalid')
  if (read.expiresAt <= clock.now()) throw new MemberRefusal('link_expired')
  const found = await store.findLink(db, read.hash)
  if (!found) throw new MemberRefusal('link_invalid')
  if (found.used_at) throw new MemberRefusal('link_used')
  const { link_id: linkId, member_id: memberId, partner_id: partnerId, purpose, mail, role } = found
  return { linkId, memberId, partnerId, purpose, mail, role }
}

/** A mail to send. `token` is a secret: it goes into the mail and nowhere else. */
export interface MemberMail extends OpenedLink {
  readonly token: string
  readonly expiresAt: Date
}

/** Undefined if the mail was sent, or its link can no longer be used. */
export async function findMemberMail({ db, clock, keys }: Deps, linkId: string): Promise<MemberMail | undefined> {
  const found = await store.findUnsent(db, linkId, clock.now())
  if (!found) return undefined
  const { member_id: memberId, partner_id: partnerId, purpose, mail, role, expires_at: expiresAt } = found
  const token = sentToken(keys, 'member', { linkId, expiresAt }, found.link_hash)
  if (token === undefined) return undefined
  return { linkId, memberId, partnerId, purpose, mail, role, token, expiresAt }
}

export const markMailSent = ({ db }: { db: Db }, linkId: string): Promise<number> =>
  store.setMailState(db, linkId, 'sent', null)

/** `problem` is for the partner's owners; `final`: it will not be tried again. */
export const markMailFailed = ({ db }: { db: Db }, linkId: string, problem: string, final: boolean): Promise<number> =>
  store.setMailState(db, linkId, final ? 'failed' : 'waiting', problem)
