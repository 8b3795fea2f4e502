import { randomUUID } from 'node:crypto'
import { recordByPerson } from '../../platform/audit/index.ts'
import { PROFILE_FIELDS, type ProfileField } from '../../platform/config/people.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { reencodePicture } from '../../platform/lib/picture.ts'
import { askForContact, confirmContact, pendingContacts, wayTo } from './contact-change.ts'
import * as store from './profile-store.ts'
import { deletePicture, findPicture, setPicture } from './profile-store.ts'
import { lockSignedIn, type SignedIn } from './session.ts'
import { findUser } from './store.ts'
import { newUser, type User } from './wire.ts'

/** What a person changes of their own profile. What other systems of the platform keep (PROFILE_OWNED) stays as it is. */

const profileForm = newUser.pick({ name: true, gender: true, big_avatar_url: true }).partial().strip()

/** Fields that are typed, and where they are kept. */
const EDITED = [
  ['name', 'name'],
  ['gender', 'gender'],
  ['avatar', 'big_avatar_url'],
] as const

/**
 * Which fields this person may change here: those that nobody else keeps, and to which a code can be sent. The mail address is
 * what one signs in with, so it is the provider's where people sign in there.
 */
function editableFields({ config }: Deps): readonly ProfileField[] {
  return PROFILE_FIELDS.filter((field) => {
    if (config.PROFILE_OWNED.includes(field) || (field === 'mail' && config.UPSTREAM_ISSUER)) return false
    return (field !== 'phone' && field !== 'mail') || wayTo(config, field) !== undefined
  })
}

/** The person's own profile, whole: operators get it masked. Undefined for somebody who was erased meanwhile. */
const ownProfile = ({ db }: Deps, session: SignedIn): Promise<User | undefined> => findUser(db, session)

/** Changes name, gender and picture; false where the address of a new picture is not https. */
const editProfile = operation(
  profileForm,
  (deps: Deps, given, session: SignedIn): Promise<boolean> =>
    inPersonTransaction(deps, session.routingKey, async (inside, db) => {
      if (!(await lockSignedIn(inside, session))) return true
      const before = await findUser(db, session)
      if (!before) return true
      const may = editableFields(deps)
      const edited = EDITED.flatMap(([field, column]) => {
        const value = may.includes(field) ? given[column] : undefined
        return value === undefined || value === before[column] ? [] : [{ field, column, value }]
      })
      const fields = edited.map(({ field }) => field)
      const next = { ...before, ...Object.fromEntries(edited.map(({ column, value }) => [column, value])) }
      if (fields.includes('avatar') && !/^https:/i.test(next.big_avatar_url)) return false
      if (fields.length === 0) return true
      await store.updateProfile(db, session, next, deps.clock.now())
      if (fields.includes('avatar')) await deletePicture(db, session)
      await recordByPerson(inside, session, 'user_profile_changed', { fields })
      return true
    }),
)

/** The path of a picture is this, the routing key, and an id that nobody guesses. */
const PICTURES = '/pictures'
const LARGEST_UPLOAD = 512 * 1024

/**
 * The person's new picture; false for a file that is none. What is kept is made anew from what the picture shows: a JPEG of
 * one size, without whatever else the file held (where it was taken, by whom; another file).
 */
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

/** Undefined where there is none any more. */
const uploadedPicture = ({ db }: Deps, routingKey: number, id: string): Promise<Buffer | undefined> =>
  findPicture(db, routingKey, id)

export const OWN_PROFILE = {
  show: ownProfile,
  editable: editableFields,
  edit: editProfile,
  /** Uploaded pictures: where they are, how many bytes a file may have. */
  picture: { path: PICTURES, largest: LARGEST_UPLOAD, set: setOwnPicture, find: uploadedPicture },
  pending: pendingContacts,
  ask: askForContact,
  confirm: confirmContact,
}
