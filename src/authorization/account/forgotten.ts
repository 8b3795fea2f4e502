import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { enqueue } from '../../platform/db/jobs-store.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { DAY_S, HOUR_S, wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import { issueToken, PREFIX } from '../../platform/lib/crypto/opaque-token.ts'
import { operation } from '../../platform/lib/json/input.ts'
import {
  countWithin,
  knownDevice,
  networkOf,
  SITE_FACTOR,
  type SignInSource,
  siteOf,
  subnetOf,
} from '../../platform/throttle/index.ts'
import { PASSWORD_PATH } from './password.ts'
import { addressOf } from './person-mail.ts'
import { accountOf } from './sign-in.ts'
import { findCredential, findLink, insertLink, lockUser, passportOf } from './store.ts'

/** A job looks the person up, so that neither the response nor its timing reveals whether they exist. */

const LINK_S = 3_600
const MAX_PER_PERSON_AND_NETWORK = 3
const MAX_PER_PERSON = 6
const MAX_PER_PERSON_AND_DAY = 12
/** Extra requests per day once strangers have exhausted the others; one per network. */
const MAX_EXTRA = 12
const MAX_PER_NETWORK = 30

/**
 * Requests a link. If there were too many requests (for this person from one network, from anywhere, or in a day; or
 * from this network for anybody), returns when the limit resets. Strangers who keep asking must not lock the person out
 * of this too: a browser in which they have signed in before has an allowance of its own, and each network gets one
 * extra a day.
 */
export async function askForPassword(
  deps: Deps,
  { passport, address, device }: SignInSource & { readonly passport: string },
): Promise<Date | undefined> {
  const account = accountOf(passport)
  const knownBrowser = knownDevice(deps, account, device)
  const nameOf = (what: string) => `person\n${what}\n${account.name}`
  const site = siteOf(address)
  const nearby = knownBrowser
    ? [{ kind: 'forgotten', name: nameOf(knownBrowser), most: MAX_PER_PERSON_AND_NETWORK } as const]
    : [
        { kind: 'forgotten', name: nameOf(subnetOf(address)), most: MAX_PER_PERSON_AND_NETWORK } as const,
        { kind: 'forgotten-network', name: networkOf(address), most: MAX_PER_NETWORK } as const,
        ...(site ? [{ kind: 'forgotten-network', name: site, most: SITE_FACTOR * MAX_PER_NETWORK } as const] : []),
      ]
  const anywhere = knownBrowser ? [] : [{ kind: 'forgotten', name: nameOf(''), most: MAX_PER_PERSON } as const]
  const day = [{ kind: 'forgotten-day', name: nameOf(knownBrowser ?? ''), most: MAX_PER_PERSON_AND_DAY } as const]
  const extra = [
    { kind: 'forgotten-day', name: nameOf(`more\n${subnetOf(address)}`), most: 1 } as const,
    { kind: 'forgotten-day', name: nameOf('more'), most: MAX_EXTRA } as const,
  ]
  const nearbyUntil = await countWithin(deps, HOUR_S, nearby)
  if (nearbyUntil) return nearbyUntil
  const until = (await countWithin(deps, HOUR_S, anywhere)) ?? (await countWithin(deps, DAY_S, day))
  if (until && (knownBrowser || (await countWithin(deps, DAY_S, extra)))) return until
  const linkId = randomUUID()
  // Encrypted in the queue: what was typed may be a password.
  const sealed = encryptSecret(deps.keys, passport, contextOf(linkId)).toString('base64')
  await enqueue(deps.db, 'forgotten-password', { linkId, sealed, at: deps.clock.now() })
  return undefined
}

const contextOf = (linkId: string): string => `forgotten password ${linkId}`

const forgottenJob = z.object({ linkId: z.uuid(), sealed: z.base64(), at: z.coerce.date() })

/** The same link on every attempt, a secret; undefined if the person is unknown, or the link used or expired. */
export const forgottenLink = operation(forgottenJob, async (deps: Deps, { linkId, sealed, at }) => {
  const { keys, clock, config } = deps
  const expiresAt = wholeSecondsAfter(at, LINK_S)
  if (expiresAt <= clock.now()) return undefined
  const passport = decryptSecret(keys, Buffer.from(sealed, 'base64'), contextOf(linkId))
  const credential = await findCredential(deps.db, passport)
  if (!credential) return undefined
  const { routingKey, cid, userId } = credential
  const key: UserRowKey = { routingKey, cid, userId }
  const random = hmacSha256(keys.derive, `password link\n${linkId}`)
  const link = issueToken(keys, { prefix: PREFIX.passwordLink, routingKey: key.routingKey, expiresAt, random })
  return inPersonTransaction(deps, key.routingKey, async (inside, db) => {
    if (!(await lockUser(db, key))) return undefined
    const address = addressOf(await passportOf(db, key))
    if (config.PASSWORD_RESET === 'mail' && address === undefined) return undefined
    if ((await insertLink(db, key, link, at)) > 0) {
      await recordAudit(inside, { event: 'user_password_link_asked', ...key })
    } else if ((await findLink(db, key.routingKey, link.hash))?.usedAt) return undefined
    const url = new URL(`${PASSWORD_PATH}?token=${link.text}`, config.PUBLIC_URL)
    return { id: linkId, cid, userId, address, url: url.href, at, expiresAt }
  })
})
