import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Config } from '../../platform/config/index.ts'
import { enqueue } from '../../platform/db/jobs-store.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, DAY_S, HOUR_S } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey } from '../../platform/lib/crypto/keys.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { mailKeyOf } from '../../platform/lib/member.ts'
import { internationalNumber } from '../../platform/lib/phone-number.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { countWithin, networkOf } from '../../platform/throttle/index.ts'
import { AlreadyTaken } from './errors.ts'
import { addressOf, recordChange } from './person-mail.ts'
import * as store from './profile-store.ts'
import { lockSignedIn, type SignedIn } from './session.ts'
import { endLinks, findCredential, insertCredential, isPassportTaken, passportOf, storedPassport } from './store.ts'
import { newUser, routingKeyOf } from './wire.ts'

/**
 * A new phone number or mail address: a code is sent there, and whoever types it has proved that they read it. The mail
 * address of a person is the passport. Nobody but who reads a mailbox learns that another account has its address.
 */

const CODE_S = 600
const TRIES = 5
const PER_TARGET = 3
/** People who may have one sent there in a day though others have used that up. */
const FIRST_OF_PEOPLE = 12
const PER_PERSON = 5
const PER_PERSON_AND_DAY = 10
const PER_NETWORK = 30

type Kind = store.ContactKind

/** How a code gets to a new address or number; undefined where it cannot. Without SMTP_URL mails are files, for trying out. */
export function wayTo(config: Config, kind: Kind): 'mail' | 'hook' | undefined {
  if (kind === 'mail' && config.SMTP_URL !== undefined) return 'mail'
  if (config.PASSWORD_RESET_HOOK && config.PASSWORD_RESET_HOOK_SECRET) return 'hook'
  return kind === 'mail' && config.NODE_ENV !== 'production' ? 'mail' : undefined
}

/** Six digits that follow from the change: they are kept nowhere. */
const codeOf = ({ derive }: DerivedKeys, changeId: string): string =>
  String(hmacSha256(derive, `contact code\n${changeId}`).readUIntBE(0, 6) % 1_000_000).padStart(6, '0')

const phone = newUser.shape.phone_number.unwrap().unwrap()
const mail = newUser.shape.passport.refine((text) => addressOf(text) !== undefined)
const asked = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('phone'), value: z.string().trim().pipe(phone) }),
  z.object({ kind: z.literal('mail'), value: mail }),
])

/** Spellings of one address or number share it. */
const targetOf = ({ config }: Deps, kind: Kind, value: string): string =>
  `${kind}\n${kind === 'mail' ? mailKeyOf(normalName(value)) : internationalNumber(value, config.PHONE_COUNTRY_CODE)}`

/**
 * The end of the window where too many codes went to this address or number. The first one a day of each person goes all
 * the same: strangers who name somebody's number keep them from proving it otherwise.
 */
async function usedUp(deps: Deps, target: string, person: string): Promise<Date | undefined> {
  const until = await countWithin(deps, HOUR_S, [{ kind: 'contact-target', name: target, most: PER_TARGET }])
  const another = await countWithin(deps, DAY_S, [
    { kind: 'contact-first', name: `${target}\n${person}`, most: 1 },
    { kind: 'contact-first', name: target, most: FIRST_OF_PEOPLE },
  ])
  return another && until
}

/** Sends a code, in place of one of before. Returns the end of the window where too many were asked for. */
export const askForContact = operation(
  asked,
  async (deps: Deps, { kind, value }, session: SignedIn, address: string) => {
    const person = `${session.cid}:${session.userId}`
    const until =
      (await countWithin(deps, HOUR_S, [
        { kind: 'contact-code', name: person, most: PER_PERSON },
        { kind: 'contact-network', name: networkOf(address), most: PER_NETWORK },
      ])) ??
      (await countWithin(deps, DAY_S, [{ kind: 'contact-day', name: person, most: PER_PERSON_AND_DAY }])) ??
      // The last one: who may send nothing more uses up nobody's number.
      (await usedUp(deps, targetOf(deps, kind, value), person))
    if (until) return until
    const changeId = randomUUID()
    await inPersonTransaction(deps, session.routingKey, async (inside, db) => {
      if (!(await lockSignedIn(inside, session))) return
      const askedAt = deps.clock.now()
      await store.setChange(db, session, kind, { changeId, value, askedAt, expiresAt: addSeconds(askedAt, CODE_S) })
      await enqueue(db, 'send-contact-code', { changeId, kind, cid: session.cid, userId: session.userId })
    })
    return undefined
  },
)

const typed = z.object({ kind: z.enum(['phone', 'mail']), code: z.string().max(40) })

/** `ended`: nothing was asked for, or it is over. `taken`: another account has the address. */
type Confirmed = 'done' | 'wrong' | 'ended' | 'taken'

/** Exactly one of simultaneous calls with a right code succeeds; no more than five wrong ones are answered. */
export const confirmContact = operation(
  typed,
  (deps: Deps, { kind, code }, session: SignedIn): Promise<Confirmed> =>
    inPersonTransaction(deps, session.routingKey, async (inside, db) => {
      if (!(await lockSignedIn(inside, session))) return 'ended'
      const found = await store.findChange(db, session, kind)
      if (!found || found.expiresAt <= deps.clock.now() || found.tries >= TRIES) return 'ended'
      const plain = code.replaceAll(/\s/g, '')
      if (!everyKey(deps.keys).some((key) => equalSecrets(plain, codeOf(key, found.changeId)))) {
        await store.countTry(db, session, kind)
        return 'wrong'
      }
      await store.deleteChange(db, session, kind)
      return kind === 'phone' ? changePhone(inside, session, found.value) : changeMail(inside, session, found.value)
    }).catch((error: unknown) => {
      if (error instanceof AlreadyTaken) return 'taken'
      throw error
    }),
)

async function changePhone(deps: Deps, session: SignedIn, value: string): Promise<Confirmed> {
  await store.setPhone(deps.db, session, value, deps.clock.now())
  await recordChange(deps, session, 'phone_changed')
  return 'done'
}

const changeMail = (deps: Deps, session: SignedIn, value: string): Promise<Confirmed> =>
  changePassport(deps, session, value, () => recordChange(deps, session, 'mail_changed'))

/**
 * Links that were sent to the old address end; `tell` tells it. In the caller's transaction, which has locked the person.
 * Throws AlreadyTaken where another account gets the passport at the same moment.
 */
export async function changePassport(
  { db, clock }: Deps,
  key: UserRowKey,
  value: string,
  tell: () => Promise<void>,
): Promise<'done' | 'ended' | 'taken'> {
  const before = await passportOf(db, key)
  const known = before === undefined ? undefined : await findCredential(db, before)
  if (!known) return 'ended'
  if (await isPassportTaken(db, value)) return 'taken'
  await tell()
  await store.deleteChange(db, key, 'mail') // of another address
  await endLinks(db, key, clock.now())
  await store.setUpdated(db, key, clock.now())
  await store.deleteCredential(db, key)
  const inserted = await insertCredential(db, key, storedPassport(value), known.passwordHash)
  if (inserted === 0) throw new AlreadyTaken({ passport: true, user_id: false })
  return 'done'
}

/** What waits for its code. */
export async function pendingContacts({ db, clock }: Deps, session: SignedIn): Promise<Partial<Record<Kind, string>>> {
  const pending: Partial<Record<Kind, string>> = {}
  for (const kind of ['phone', 'mail'] as const) {
    const found = await store.findChange(db, session, kind)
    if (found && found.expiresAt > clock.now() && found.tries < TRIES) pending[kind] = found.value
  }
  return pending
}

const queued = z.object({ changeId: z.uuid(), kind: z.enum(['phone', 'mail']), cid: z.number(), userId: z.string() })

/** What the job sends; undefined where something newer was asked for, or it is over. */
export const contactCode = operation(queued, async (deps: Deps, job) => {
  const { changeId: id, kind, cid, userId } = job
  const key: UserRowKey = { routingKey: routingKeyOf(cid, userId), cid, userId }
  const found = await store.findChange(deps.db, key, kind)
  const way = wayTo(deps.config, kind)
  if (!way || found?.changeId !== id || found.expiresAt <= deps.clock.now()) return undefined
  const { value, askedAt: at, expiresAt } = found
  return { id, kind, way, value, code: codeOf(deps.keys, id), at, expiresAt, cid, userId }
})
