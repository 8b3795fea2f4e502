import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { USERS_FILE } from '../../authorization/account/index.ts'
import { checkedUtf8 } from '../../platform/lib/utf8.ts'
import type { Terminal } from './terminal.ts'

export interface OpenedFile {
  readonly records: ReturnType<typeof USERS_FILE.records>
  /** Bytes read so far, and of the whole file where that is known. */
  progress(): { readonly read: number; readonly total: number | undefined }
}

/**
 * A file of users; `-` is standard input. Throws NotUtf8: of a file before its first record, of standard input where the
 * reading comes to it.
 */
export async function openUsersFile(name: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<OpenedFile> {
  const total = name === '-' ? undefined : (await stat(name)).size
  if (name !== '-') for await (const _ of checkedUtf8(createReadStream(name)));
  let read = 0
  async function* counted(source: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
    for await (const part of source) {
      read += part.length
      yield Buffer.from(part)
    }
  }
  const records = USERS_FILE.records(counted(name === '-' ? stdin : createReadStream(name)))
  return { records, progress: () => ({ read, total }) }
}
