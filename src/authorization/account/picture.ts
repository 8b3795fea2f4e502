import { randomUUID } from 'node:crypto'
import { asPerson, recordAudit } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { ConcurrencyLimit } from '../../platform/lib/concurrency-limit.ts'
import * as store from './picture-store.ts'
import { lockSignedIn, type SignedIn } from './session.ts'

/**
 * Pictures that people upload. What is kept is made anew from what the picture shows: a JPEG of one size, without whatever
 * else the file held (where it was taken, by whom; another file).
 */

/** The path of a picture is this, the routing key, and an id that nobody guesses. */
export const PICTURES = '/pictures'
export const LARGEST_UPLOAD = 512 * 1024
const LONGEST_SIDE = 4_096
const SIDE = 512
const QUALITY = 82

const FORMATS: readonly string[] = ['png', 'jpeg', 'webp']
const turns = new ConcurrencyLimit({ name: 'pictures', most: 2, length: 20, waitMs: 3_000 })

/** With the first picture; its other decoders, which nobody needs here, are out of reach. */
async function library() {
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  sharp.concurrency(1)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({
    operation: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'],
  })
  return sharp
}

/** Undefined for what is no PNG, JPEG or WebP, is damaged, or has more than 4,096 pixels on a side. */
async function madeAnew(upload: Buffer): Promise<Buffer | undefined> {
  const sharp = await library()
  const options = { limitInputPixels: LONGEST_SIDE ** 2, failOn: 'error' } as const
  try {
    const { format, width, height } = await sharp(upload, options).metadata()
    if (!FORMATS.includes(format) || Math.max(width, height) > LONGEST_SIDE) return undefined
    return await sharp(upload, options)
      .autoOrient()
      .resize(SIDE, SIDE, { fit: 'cover' })
      .flatten({ background: 'white' })
      .toColourspace('srgb')
      .jpeg({ quality: QUALITY })
      .toBuffer()
  } catch {
    return undefined // whatever is wrong with a file, it is not accepted
  }
}

/** The person's new picture; false for a file that is none. */
export async function setOwnPicture(deps: Deps, session: SignedIn, upload: Buffer): Promise<boolean> {
  const bytes = await turns.run(() => madeAnew(upload))
  if (!bytes) return false
  const { routingKey, cid, userId } = session
  const id = randomUUID()
  const url = `${deps.config.PUBLIC_URL}${PICTURES}/${routingKey}/${id}.jpg`
  await deps.db.tx(async (db) => {
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
