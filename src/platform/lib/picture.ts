import { ConcurrencyLimit } from './concurrency-limit.ts'

/** Pictures that somebody has uploaded. */

const LONGEST_SIDE = 4_096
const SIDE = 512
const QUALITY = 82

/** An honest picture takes a tenth of it. */
const DECODED_WITHIN_S = 3

const FORMATS: readonly string[] = ['png', 'jpeg', 'webp']

/** How many uploads a process decodes at once, and how many wait. */
export const pictureSlots = (): ConcurrencyLimit =>
  new ConcurrencyLimit({ name: 'pictures', most: 2, length: 20, waitMs: 3_000 })

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
export async function madeAnew(upload: Buffer): Promise<Buffer | undefined> {
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
      .timeout({ seconds: DECODED_WITHIN_S })
      .toBuffer()
  } catch {
    return undefined // whatever is wrong with a file, it is not accepted
  }
}
