import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { NO_STORE_HEADERS } from './envelope.ts'

/** A text that is sent as it is made, in parts. */
export interface Download {
  /** Name of the file that the browser saves, its page staying open; without it, the browser shows the text. */
  readonly name?: string
  readonly type: string
  readonly parts: AsyncIterable<string> | Iterable<string>
}

/** Sends it as it is made: 64 KiB wait at most for a reader that is slow. */
export const sendDownload = (reply: FastifyReply, { name, type, parts }: Download): FastifyReply =>
  reply
    .headers({
      ...NO_STORE_HEADERS,
      'Content-Type': type,
      ...(name === undefined ? {} : { 'Content-Disposition': `attachment; filename="${name}"` }),
    })
    .send(Readable.from(parts, { objectMode: false, highWaterMark: 64 * 1024 }))
