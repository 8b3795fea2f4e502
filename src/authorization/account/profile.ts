import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { recordByPerson } from '../../platform/audit/index.ts'
import type { Config } from '../../platform/config/index.ts'
import { PROFILE_FIELDS, type ProfileField } from '../../platform/config/people.ts'
import { enqueue } from '../../platform/db/jobs-store.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, DAY_S, HOUR_S } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey } from '../../platform/lib/crypto/keys.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { mailKeyOf } from '../../platform/lib/member.ts'
import { internationalNumber } from '../../platform/lib/phone-number.ts'
import { reencodePicture } from '../../platform/lib/picture.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { countWithin, networkOf } from '../../platform/throttle/index.ts'
import { AlreadyTaken } from './errors.ts'
import { addressOf, recordChange } from './person-mail.ts'
import * as store from './profile-store.ts'
import { deletePicture, findPicture, setPicture, updateProfile } from './profile-store.ts'
import { lockSignedIn, type SignedIn } from './session.ts'
import {
  endLinks,
  findCredential,
  findUser,
  insertCredential,
  isPassportTaken,
  passportOf,
  storedPassport,
} from './store.ts'
import { newUser, routingKeyOf } from './wire.ts'

/** Changes that people make to their own profile. PROFILE_OWNED fields belong to other systems. */

const { name, gender, big_avatar_url } = newUser.shape
/** Without the default of `gender`: a field that is not sent stays as it is. */
const profileForm = z.object({ name, gender: gender.unwrap(), big_avatar_url }).partial()

const EDITABLE = [
  ['name', 'name'],
  ['gender', 'gender'],
  ['avatar', 'big_avatar_url'],
] as const

/** Contacts need a way to send codes. The mail address is the sign-in name: an OpenID provider's, if there is one. */
function editableFields({ config }: Deps): readonly ProfileField[] {
  return PROFILE_FIELDS.filter((field) => {
    if (config.PROFILE_OWNED.includes(field) || (field === 'mail' && config.UPSTREAM_ISSUER)) return false
    return (field !== 'phone' && field !== 'mail') || codeChannel(config, field) !== undefined
  })
}

/** Changes name, gender and picture; false if the URL of a new picture is not https. */
const editProfile = operation(
  profileForm,
  (deps: Deps, given, session: SignedIn): Promise<boolean> =>
    inPersonTransaction(deps, session.routingKey, async (inside, db) => {
      if (!(await lockSignedIn(inside, session))) return true
      const before = await findUser(db, session)
      if (!before) return true
      const editable = editableFields(deps)
      const edited = EDITABLE.flatMap(([field, column]) => {
        const value = editable.includes(field) ? given[column] : undefined
        return value === undefined || value === before[column] ? [] : [{ field, column, value }]
      })
      const fields = edited.map(({ field }) => field)
      const next = { ...before, ...Object.fromEntries(edited.map(({ column, value }) => [column, value])) }
      if (fields.includes('avatar') && !/^https:/i.test(next.big_avatar_url)) return false
      if (fields.length === 0) return true
      await updateProfile(db, session, next, deps.clock.now())
      if (fields.includes('avatar')) await deletePicture(db, session)
      await recordByPerson(inside, session, 'user_profile_changed', { fields })
      return true
    }),
)

/** Prefix of picture paths; routing key and an unguessable id follow. */
const PICTURES = '/pictures'
const MAX_UPLOAD = 512 * 1024

/** False if it is no image. It is re-encoded from its pixels, which drops what else is in the file, such as a location. */
async function setOwnPicture(deps: Deps, session: SignedIn, upload: Buffer): Promise<boolean> {
  const bytes = await deps.pictureSlots.run(() => reencodePicture(upload))
  if (!bytes) return false
  const { routingKey } = session
  const id = randomUUID()
  const url = `${deps.config.PUBLIC_URL}${PICTURES}/${routingKey}/${id}.jpg`
  await inPersonTransaction(deps, routingKey, async (inside, db) => {
    if (!(await lockSignedIn(inside, session))) return
    await setPicture(db, session, { id, bytes, url }, deps.clock.now())
    await recordByPerson(inside, session, 'user_profile_changed', { fields: ['avatar'] })
  })
  return true
}

/**
 * Changing the phone number or mail address: a code is sent there, and typing it proves that the person receives it. A
 * person's mail address is their passport. Only who reads its mail learns whether another account has an address.
 */

const CODE_S = 600
const MAX_TRIES = 5
const MAX_PER_TARGET = 3
/** People per day who get one code there even though others have exhausted MAX_PER_TARGET. */
const MAX_FIRST_CODES = 12
const MAX_PER_PERSON = 5
const MAX_PER_PERSON_AND_DAY = 10
const MAX_PER_NETWORK = 30

type Kind = store.ContactKind

/** How codes are delivered; undefined if they cannot be. For trying out, mails without SMTP_URL become files. */
function codeChannel(config: Config, kind: Kind): 'mail' | 'hook' | undefined {
  if (kind === 'mail' && config.SMTP_URL !== undefined) return 'mail'
  if (config.PASSWORD_RESET_HOOK && config.PASSWORD_RESET_HOOK_SECRET) return 'hook'
  return kind === 'mail' && config.NODE_ENV !== 'production' ? 'mail' : undefined
}

/** Six digits derived from the id of the change, so they need not be stored. */
const codeOf = ({ derive }: DerivedKeys, changeId: string): string =>
  String(hmacSha256(derive, `contact code\n${changeId}`).readUIntBE(0, 6) % 1_000_000).padStart(6, '0')

const phone = newUser.shape.phone_number.unwrap().unwrap()
const mail = newUser.shape.passport.refine((text) => addressOf(text) !== undefined)
const contactRequest = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('phone'), value: z.string().trim().pipe(phone) }),
  z.object({ kind: z.literal('mail'), value: mail }),
])

const targetOf = ({ config }: Deps, kind: Kind, value: string): string =>
  `${kind}\n${kind === 'mail' ? mailKeyOf(normalName(value)) : internationalNumber(value, config.PHONE_COUNTRY_CODE)}`

/** When codes may be sent there again. Each person's first of a day always may: strangers must not use up a number. */
async function targetExhaustedUntil(deps: Deps, target: string, person: string): Promise<Date | undefined> {
  const exhausted = await countWithin(deps, HOUR_S, [{ kind: 'contact-target', name: target, most: MAX_PER_TARGET }])
  const noFirstLeft = await countWithin(deps, DAY_S, [
    { kind: 'contact-first', name: `${target}\n${person}`, most: 1 },
    { kind: 'contact-first', name: target, most: MAX_FIRST_CODES },
  ])
  return noFirstLeft && exhausted
}

/** Sends a code, replacing any earlier one. If too many were requested, returns when the limit resets. */
const askForContact = operation(
  contactRequest,
  async (deps: Deps, { kind, value }, session: SignedIn, address: string) => {
    const person = `${session.cid}:${session.userId}`
    const until =
      (await countWithin(deps, HOUR_S, [
        { kind: 'contact-code', name: person, most: MAX_PER_PERSON },
        { kind: 'contact-network', name: networkOf(address), most: MAX_PER_NETWORK },
      ])) ??
      (await countWithin(deps, DAY_S, [{ kind: 'contact-day', name: person, most: MAX_PER_PERSON_AND_DAY }])) ??
      // Checked last: somebody out of codes must not use up another's number.
      (await targetExhaustedUntil(deps, targetOf(deps, kind, value), person))
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

const kind = z.enum(['phone', 'mail'])
const typedCode = z.object({ kind, code: z.string().max(40) })

/** `ended`: no change is pending. `taken`: another account has the address. */
type Confirmation = 'done' | 'wrong' | 'ended' | 'taken'

/** Of concurrent calls with the right code exactly one succeeds; at most MAX_TRIES wrong codes are checked. */
const confirmContact = operation(
  typedCode,
  (deps: Deps, { kind, code }, session: SignedIn): Promise<Confirmation> =>
    inPersonTransaction(deps, session.routingKey, async (inside, db) => {
      if (!(await lockSignedIn(inside, session))) return 'ended'
      const pending = await findPending(inside, session, kind)
      if (!pending) return 'ended'
      const digits = code.replaceAll(/\s/g, '')
      if (!everyKey(deps.keys).some((key) => equalSecrets(digits, codeOf(key, pending.changeId)))) {
        await store.countTry(db, session, kind)
        return 'wrong'
      }
      await store.deleteChange(db, session, kind)
      return changeContact(inside, session, kind, pending.value)
    }).catch((error: unknown) => {
      if (error instanceof AlreadyTaken) return 'taken'
      throw error
    }),
)

async function changeContact(deps: Deps, session: SignedIn, kind: Kind, value: string): Promise<Confirmation> {
  if (kind === 'mail') return changePassport(deps, session, value, () => recordChange(deps, session, 'mail_changed'))
  await store.setPhone(deps.db, session, value, deps.clock.now())
  await recordChange(deps, session, 'phone_changed')
  return 'done'
}

/** In a transaction that has locked the person. Also ends password links to the old address. Throws AlreadyTaken. */
export async function changePassport({ db, clock }: Deps, key: UserRowKey, value: string, tell: () => Promise<void>) {
  const before = await passportOf(db, key)
  const credential = before && (await findCredential(db, before))
  if (!before || !credential) return 'ended'
  const next = storedPassport(value)
  // Another spelling of the same passport is not taken by anybody else.
  if (next.passport !== storedPassport(before).passport && (await isPassportTaken(db, value))) return 'taken'
  await tell()
  await store.deleteChange(db, key, 'mail') // a pending change is obsolete
  await endLinks(db, key, clock.now())
  await store.setUpdated(db, key, clock.now())
  await store.deleteCredential(db, key)
  const inserted = await insertCredential(db, key, next, credential.passwordHash)
  if (inserted === 0) throw new AlreadyTaken({ passport: true, user_id: false })
  return 'done'
}

async function findPending({ db, clock }: Deps, key: UserRowKey, kind: Kind) {
  const change = await store.findChange(db, key, kind)
  return change && change.expiresAt > clock.now() && change.tries < MAX_TRIES ? change : undefined
}

const pendingContacts = async (deps: Deps, session: SignedIn): Promise<Record<Kind, string | undefined>> => ({
  phone: (await findPending(deps, session, 'phone'))?.value,
  mail: (await findPending(deps, session, 'mail'))?.value,
})

const codeJob = z.object({ changeId: z.uuid(), kind, cid: z.number(), userId: z.string() })

/** What the job sends; undefined if the request has expired or was replaced. */
export const contactCode = operation(codeJob, async (deps: Deps, job) => {
  const { changeId: id, kind, cid, userId } = job
  const key: UserRowKey = { routingKey: routingKeyOf(cid, userId), cid, userId }
  const change = await store.findChange(deps.db, key, kind)
  const way = codeChannel(deps.config, kind)
  if (!way || change?.changeId !== id || change.expiresAt <= deps.clock.now()) return undefined
  const { value, askedAt: at, expiresAt } = change
  return { id, kind, way, value, code: codeOf(deps.keys, id), at, expiresAt, cid, userId }
})

export const OWN_PROFILE = {
  /** Unmasked. Undefined if the person was erased meanwhile. */
  show: findUser,
  editable: editableFields,
  edit: editProfile,
  /** Uploaded pictures; `largest` in bytes. */
  picture: { path: PICTURES, largest: MAX_UPLOAD, set: setOwnPicture, find: findPicture },
  pending: pendingContacts,
  ask: askForContact,
  confirm: confirmContact,
}
