import { randomUUID } from 'node:crypto'
import { asPerson, recordAudit } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { madeAnew } from '../../platform/lib/picture.ts'
import * as store from './picture-store.ts'
import { lockSignedIn, type SignedIn } from './session.ts'

/**
 * Pictures that people upload. What is kept is made anew from what the picture shows: a JPEG of one size, without whatever
 * else the file held (where it was taken, by whom; another file).
 */

/** The path of a picture is this, the routing key, and an id that nobody guesses. */
export const PICTURES = '/pictures'
export const LARGEST_UPLOAD = 512 * 1024
/** The person's new picture; false for a file that is none. */
export async function setOwnPicture(deps: Deps, session: SignedIn, upload: Buffer): Promise<boolean> {
  const bytes = await deps.pictureSlots.run(() => madeAnew(upload))
  if (!bytes) return false
  const { routingKey, cid, userId } = session
  const id = randomUUID()
  const url = `${deps.config.PUBLIC_URL}${PICTURES}/${routingKey}/${id}.jpg`
  await deps.db.of(routingKey).tx(async (db) => {
    if (!(await lockSignedIn({ ...deps, db }, session))) return
    await store.setPicture(db, session, { id, bytes, url }, deps.clock.now())
    const actor = asPerson(deps.actor, session)
    const detail = { fields: ['avatar'] }
    await recordAudit({ ...deps, db }, { event: 'user_profile_changed', actor, routingKey, cid, userId, detail })
  })
  return true
}

/** Undefined where there is none any more. */
export const uploadedPicture = ({ db }: Deps, routingKey: number, id: string): Promise<Buffer | undefined> =>
  store.findPicture(db, routingKey, id)
