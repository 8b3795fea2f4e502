import { hmacSha256 } from './digest.ts'
import { type DerivedKeys, everyKey, type Keys } from './keys.ts'
import { issueToken, type OpaqueToken, PREFIX } from './opaque-token.ts'

/**
 * Single-use links sent by mail. The token is derived from the link's id whenever the mail is sent, so neither the
 * table nor the queue holds it: reading the database is not enough to use it without SECRET_KEY.
 */

type Link = { readonly linkId: string; readonly expiresAt: Date }
const KINDS = {
  member: { prefix: PREFIX.memberLink, derivedFrom: 'member link' },
  team: { prefix: PREFIX.teamLink, derivedFrom: 'team link' },
} as const
type LinkKind = keyof typeof KINDS

export const prefixOfLink = (kind: LinkKind) => KINDS[kind].prefix

export const linkToken = (keys: DerivedKeys, kind: LinkKind, { linkId, expiresAt }: Link): OpaqueToken =>
  issueToken(keys, {
    prefix: KINDS[kind].prefix,
    routingKey: 0,
    expiresAt,
    random: hmacSha256(keys.derive, `${KINDS[kind].derivedFrom}\n${linkId}`),
  })

/** The token with the stored hash; undefined if it was derived from a key that is gone, so that nobody could use it. */
export const sentToken = (keys: Keys, kind: LinkKind, link: Link, linkHash: Buffer): string | undefined =>
  everyKey(keys)
    .map((key) => linkToken(key, kind, link))
    .find(({ hash }) => hash.equals(linkHash))?.text
