import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { NO_STORE_HEADERS } from './envelope.ts'

export interface Download {
  /** The file name under which the browser saves it; without one, the browser displays the text. */
  readonly name?: string
  readonly type: string
  readonly parts: AsyncIterable<string> | Iterable<string>
}

/** Streams a download, buffering at most 64 KiB for a slow reader. */
export const sendDownload = (reply: FastifyReply, { name, type, parts }: Download): FastifyReply =>
  reply
    .headers({
      ...NO_STORE_HEADERS,
      'Content-Type': type,
      ...(name === undefined ? {} : { 'Content-Disposition': `attachment; filename="${name}"` }),
    })
    .send(Readable.from(parts, { objectMode: false, highWaterMark: 64 * 1024 }))
