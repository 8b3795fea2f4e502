import { hash } from 'node:crypto'

/**
 * Digests by one-shot hashes: a request takes up to six of them, and a `Hash` or `Hmac` object of node:crypto costs twice
 * as much, and as much again when the garbage is collected. The price: what is hashed, keys included, passes through Node's
 * pool of small Buffers, so nothing here may hand out one that was not filled.
 */

type Algorithm = 'sha1' | 'sha256'
type Data = string | Buffer

/** By way of a text of one character a byte: asked for a Buffer, `hash` allocates one outside of the heap. */
const digest = (algorithm: Algorithm, data: Data): Buffer => Buffer.from(hash(algorithm, data, 'binary'), 'binary')

/** 32 bytes; of a text, its UTF-8. */
export const sha256 = (data: Data): Buffer => digest('sha256', data)

/** RFC 2104: 32 bytes. The key's Buffer must not change: what is made of it is kept as long as it. */
export const hmacSha256 = (key: Buffer, ...parts: Data[]): Buffer => hmac('sha256', keptPadsOf(key), parts)

/** RFC 2104: 20 bytes. */
export const hmacSha1 = (key: Buffer, ...parts: Data[]): Buffer => hmac('sha1', padsOf('sha1', key), parts)

interface Pads {
  readonly inner: Uint8Array
  readonly outer: Uint8Array
}

function hmac(algorithm: Algorithm, { inner, outer }: Pads, parts: Data[]): Buffer {
  const message = Buffer.concat([inner, ...parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))])
  return digest(algorithm, Buffer.concat([outer, digest(algorithm, message)]))
}

const BLOCK_BYTES = 64

function padsOf(algorithm: Algorithm, key: Buffer): Pads {
  const block = Buffer.concat([key.length > BLOCK_BYTES ? digest(algorithm, key) : key], BLOCK_BYTES)
  const padded = (pad: number) => block.map((byte) => byte ^ pad)
  return { inner: padded(0x36), outer: padded(0x5c) }
}

const kept = new WeakMap<Buffer, Pads>()

function keptPadsOf(key: Buffer): Pads {
  const pads = kept.get(key) ?? padsOf('sha256', key)
  kept.set(key, pads)
  return pads
}
