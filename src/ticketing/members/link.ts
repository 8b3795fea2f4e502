import { randomUUID } from 'node:crypto'
import { enqueue } from '../../platform/db/jobs-store.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, everyKey } from '../../platform/lib/crypto/keys.ts'
import { issueToken, type OpaqueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { MemberRefusal } from './errors.ts'
import * as store from './link-store.ts'
import type { LinkPurpose, MemberRole } from './wire.ts'

/** Seconds for which a link can be used. */
const LINK_LIFETIME_S: Readonly<Record<LinkPurpose, number>> = { invitation: 7 * 86_400, password: 3_600 }

// A mail is tried again until its link has expired, at most every ten minutes: never reached.
const MAIL_ATTEMPTS = 2_000

/**
 * The token of a link. It is made anew from the link's id whenever the mail is sent, so that neither the table nor the
 * queue holds it: whoever reads the database cannot use it without SECRET_KEY.
 */
const tokenOf = (keys: DerivedKeys, linkId: string, expiresAt: Date): OpaqueToken =>
  issueToken(keys, {
    prefix: PREFIX.memberLink,
    routingKey: 0,
    expiresAt,
    random: hmacSha256(keys.derive, `member link\n${linkId}`),
  })

/** Makes a link for a member and queues its mail, both as part of the caller's transaction. */
export async function sendLink({ db, clock, keys }: Deps, memberId: string, purpose: LinkPurpose): Promise<void> {
  const now = clock.now()
  const linkId = randomUUID()
  const { hash, expiresAt } = tokenOf(keys, linkId, wholeSecondsAfter(now, LINK_LIFETIME_S[purpose]))
  await store.insertLink(db, memberId, { link_id: linkId, link_hash: hash, purpose, expires_at: expiresAt }, now)
  await enqueue(db, 'send-member-mail', { linkId }, { key: `member-mail:${linkId}`, maxAttempts: MAIL_ATTEMPTS })
}

/** What a page shows of a link before it is used. */
export interface OpenedLink {
  readonly linkId: string
  readonly memberId: string
  readonly partnerId: bigint
  readonly purpose: LinkPurpose
  readonly mail: string
  readonly role: MemberRole
}

/** The link of a token; changes nothing. Throws MemberRefusal. A forged or expired token costs no statement. */
export async function openMemberLink({ db, clock, keys }: Deps, token: string): Promise<OpenedLink> {
  const read = parseToken(keys, PREFIX.memberLink, token)
  if (!read) throw new MemberRefusal('link_invalid')
  if (read.expiresAt <= clock.now()) throw new MemberRefusal('link_expired')
  const found = await store.findLink(db, read.hash)
  if (!found) throw new MemberRefusal('link_invalid')
  if (found.used_at) throw new MemberRefusal('link_used')
  const { link_id: linkId, member_id: memberId, partner_id: partnerId, purpose, mail, role } = found
  return { linkId, memberId, partnerId, purpose, mail, role }
}

/** A mail that is still to be sent. `token` is a secret: it goes into the mail and nowhere else. */
export interface MemberMail extends OpenedLink {
  readonly token: string
  readonly expiresAt: Date
}

/** Undefined when the mail is sent, or its link can no longer be used. */
export async function findMemberMail({ db, clock, keys }: Deps, linkId: string): Promise<MemberMail | undefined> {
  const found = await store.findUnsent(db, linkId, clock.now())
  if (!found) return undefined
  const { member_id: memberId, partner_id: partnerId, purpose, mail, role, expires_at: expiresAt } = found
  const tokens = everyKey(keys).map((key) => tokenOf(key, linkId, expiresAt))
  const token = tokens.find(({ hash }) => hash.equals(found.link_hash))?.text
  if (token === undefined) return undefined // made with a key that has been given up: nobody could use it
  return { linkId, memberId, partnerId, purpose, mail, role, token, expiresAt }
}

export const markMailSent = ({ db }: { db: Db }, linkId: string): Promise<number> =>
  store.setMailState(db, linkId, 'sent', null)

/** `problem` is for the partner's owners; `final`: it will not be tried again. */
export const markMailFailed = ({ db }: { db: Db }, linkId: string, problem: string, final: boolean): Promise<number> =>
  store.setMailState(db, linkId, final ? 'failed' : 'waiting', problem)
