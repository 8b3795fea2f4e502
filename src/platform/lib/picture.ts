import { ConcurrencyLimit } from './concurrency-limit.ts'

const MAX_SIDE = 4_096
const SIDE = 512
const QUALITY = 82
/** An ordinary picture takes a tenth of this. */
const DECODE_TIMEOUT_S = 3
const FORMATS: readonly string[] = ['png', 'jpeg', 'webp']

/** How many uploads a process decodes at once, and how many wait. */
export const pictureSlots = (): ConcurrencyLimit =>
  new ConcurrencyLimit({ name: 'pictures', most: 2, length: 20, waitMs: 3_000 })

/** Loaded with the first picture. All decoders that are not needed are blocked. */
async function loadSharp() {
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  sharp.concurrency(1)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({
    operation: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'],
  })
  return sharp
}

/** The picture as a square JPEG. Undefined if it is not PNG, JPEG or WebP, is damaged, or exceeds 4,096 pixels on a side. */
export async function reencodePicture(upload: Buffer): Promise<Buffer | undefined> {
  const sharp = await loadSharp()
  const options = { limitInputPixels: MAX_SIDE ** 2, failOn: 'error' } as const
  try {
    const { format, width, height } = await sharp(upload, options).metadata()
    if (!FORMATS.includes(format) || Math.max(width, height) > MAX_SIDE) return undefined
    return await sharp(upload, options)
      .autoOrient()
      .resize(SIDE, SIDE, { fit: 'cover' })
      .flatten({ background: 'white' })
      .toColourspace('srgb')
      .jpeg({ quality: QUALITY })
      .timeout({ seconds: DECODE_TIMEOUT_S })
      .toBuffer()
  } catch {
    return undefined // whatever is wrong with a file, it is not accepted
  }
}
