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
  type SignInSource,
  siteOf,
  subnetOf,
} from '../../platform/throttle/index.ts'
import { PASSWORD_PATH } from './password.ts'
import { addressOf } from './person-mail.ts'
import { accountOf } from './sign-in.ts'
import { findCredential, findLink, insertLink, lockUser, passportOf } from './store.ts'
import { routingKeyOf } from './wire.ts'

/**
 * Forgotten passwords. A job looks whether there is such a person: what is done on asking, and how long it takes, does
 * not depend on it.
 */

const LINK_S = 3_600
const PER_PERSON_AND_NETWORK = 3
const PER_PERSON = 6
const PER_PERSON_AND_DAY = 12
/** In a day, beyond what strangers have used up, and one for a network. */
const MORE_PER_PERSON = 12
const PER_NETWORK = 30
const SITE_FACTOR = 16

/**
 * Returns the end of the window when too many have asked: for this person from one network, from anywhere, in a day, or from
 * this network for anybody. A browser in which the person has signed in before keeps a share of its own, and each network
 * gets one a day beyond what others have used up, so that strangers who ask without end do not lock them out of this too.
 */
export async function askForPassword(
  deps: Deps,
  { passport, address, device }: SignInSource & { readonly passport: string },
): Promise<Date | undefined> {
  const account = accountOf(passport)
  const own = knownDevice(deps, account, device)
  const of = (what: string) => `person\n${what}\n${account.name}`
  const site = siteOf(address)
  const near = own
    ? [{ kind: 'forgotten', name: of(own), most: PER_PERSON_AND_NETWORK } as const]
    : [
        { kind: 'forgotten', name: of(subnetOf(address)), most: PER_PERSON_AND_NETWORK } as const,
        { kind: 'forgotten-network', name: networkOf(address), most: PER_NETWORK } as const,
        ...(site ? [{ kind: 'forgotten-network', name: site, most: SITE_FACTOR * PER_NETWORK } as const] : []),
      ]
  const all = own ? [] : [{ kind: 'forgotten', name: of(''), most: PER_PERSON } as const]
  const day = [{ kind: 'forgotten-day', name: of(own ?? ''), most: PER_PERSON_AND_DAY } as const]
  const more = [
    { kind: 'forgotten-day', name: of(`more\n${subnetOf(address)}`), most: 1 } as const,
    { kind: 'forgotten-day', name: of('more'), most: MORE_PER_PERSON } as const,
  ]
  const late = await countWithin(deps, HOUR_S, near)
  if (late) return late
  const usedUp = (await countWithin(deps, HOUR_S, all)) ?? (await countWithin(deps, DAY_S, day))
  if (usedUp && (own || (await countWithin(deps, DAY_S, more)))) return usedUp
  const linkId = randomUUID()
  // What was typed may be a password: the queue holds it encrypted.
  const sealed = encryptSecret(deps.keys, passport, contextOf(linkId)).toString('base64')
  await enqueue(deps.db, 'forgotten-password', { linkId, sealed, at: deps.clock.now() })
  return undefined
}

const contextOf = (linkId: string): string => `forgotten password ${linkId}`

const forgotten = z.object({ linkId: z.uuid(), sealed: z.base64(), at: z.coerce.date() })

/** A link that is to be sent. It is a secret: whoever has it takes over the account. */
interface ForgottenLink {
  readonly id: string
  readonly cid: number
  readonly userId: string
  /** Undefined where the passport is no mail address. */
  readonly address: string | undefined
  readonly url: string
  readonly at: Date
  readonly expiresAt: Date
}

/** The job makes the link, the same at every attempt; undefined where there is no such person, or the link has ended. */
export const forgottenLink = operation(forgotten, makeLink)

async function makeLink(deps: Deps, job: z.output<typeof forgotten>): Promise<ForgottenLink | undefined> {
  const { keys, clock, config } = deps
  const { linkId, sealed, at } = job
  const expiresAt = wholeSecondsAfter(at, LINK_S)
  if (expiresAt <= clock.now()) return undefined
  const found = await findCredential(deps.db, decryptSecret(keys, Buffer.from(sealed, 'base64'), contextOf(linkId)))
  if (!found) return undefined
  const { cid, userId } = found
  const key: UserRowKey = { routingKey: routingKeyOf(cid, userId), cid, userId }
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
}
