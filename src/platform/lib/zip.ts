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

const numbers = (...fields: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer =>
  Buffer.concat(
    fields.map(([bytes, value]) => {
      const field = Buffer.alloc(bytes)
      field.writeUIntLE(value, 0, bytes)
      return field
    }),
  )

/** A zip of a few small texts, uncompressed. */
export function zipOf(files: readonly ZippedFile[]): Buffer {
  const parts: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  for (const { path, text } of files) {
    const [name, data] = [Buffer.from(path), Buffer.from(text)]
    const size = data.length
    const about = numbers(
      [2, FLAGS],
      [2, 0],
      [2, 0],
      [2, DATE],
      [4, crc32(data)],
      [4, size],
      [4, size],
      [2, name.length],
    )
    const head = Buffer.concat([numbers([4, 0x04034b50], [2, VERSION]), about, numbers([2, 0]), name])
    const rest = numbers([2, 0], [2, 0], [2, 0], [2, 0], [4, 0], [4, offset])
    entries.push(Buffer.concat([numbers([4, 0x02014b50], [2, VERSION], [2, VERSION]), about, rest, name]))
    parts.push(head, data)
    offset += head.length + size
  }
  const list = Buffer.concat(entries)
  const count = files.length
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, list.length], [4, offset], [2, 0])
  return Buffer.concat([...parts, list, end])
}
