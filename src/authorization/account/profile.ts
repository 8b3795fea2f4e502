import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { recordByPerson } from '../../platform/audit/index.ts'
import { PROFILE_FIELDS, type ProfileField } from '../../platform/config/people.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { reencodePicture } from '../../platform/lib/picture.ts'
import { askForContact, codeChannel, confirmContact, pendingContacts } from './contact-change.ts'
import { deletePicture, findPicture, setPicture, updateProfile } from './profile-store.ts'
import { lockSignedIn, type SignedIn } from './session.ts'
import { findUser } from './store.ts'
import { newUser } from './wire.ts'

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
