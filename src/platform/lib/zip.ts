import { crc32 } from 'node:zlib'

export interface ZippedFile {
  /** Relative, with `/` between folders. */
  readonly path: string
  readonly text: string
}

/** 1 January 1980, the first date that a zip can express, so that equal files give equal bytes. */
const DATE = 0x0021
const VERSION = 20
/** File names are UTF-8. */
const FLAGS = 0x0800

/** Numbers of two bytes each, the low one first. */
const words = (...values: readonly number[]): Buffer => Buffer.from(values.flatMap((value) => [value, value >>> 8]))

/** A number of four bytes as two words. */
const long = (value: number): [low: number, high: number] => [value & 0xffff, value >>> 16]

/** A zip of a few small texts, uncompressed. */
export function zipOf(files: readonly ZippedFile[]): Buffer {
  const parts: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  for (const { path, text } of files) {
    const [name, data] = [Buffer.from(path), Buffer.from(text)]
    const size = data.length
    const about = words(FLAGS, 0, 0, DATE, ...long(crc32(data)), ...long(size), ...long(size), name.length)
    const head = Buffer.concat([words(...long(0x04034b50), VERSION), about, words(0), name])
    const rest = words(0, 0, 0, 0, 0, 0, ...long(offset))
    entries.push(Buffer.concat([words(...long(0x02014b50), VERSION, VERSION), about, rest, name]))
    parts.push(head, data)
    offset += head.length + size
  }
  const list = Buffer.concat(entries)
  const count = files.length
  const end = words(...long(0x06054b50), 0, 0, count, count, ...long(list.length), ...long(offset), 0)
  return Buffer.concat([...parts, list, end])
}
