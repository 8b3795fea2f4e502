import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { AREA_A_HEADERS } from './envelope.ts'

/** A file for the browser to save, as parts of its text; the page stays open. */
export interface Download {
  readonly name: string
  readonly type: string
  readonly parts: AsyncIterable<string>
}

/** The output of an action that is a file. */
export function partsOfFile(output: object): AsyncIterable<string> {
  if (!(Symbol.asyncIterator in output)) throw new Error('not the parts of a file')
  return output as AsyncIterable<string>
}

/** Sends it as it is made: 64 KiB wait at most for a reader that is slow. */
export const sendDownload = (reply: FastifyReply, { name, type, parts }: Download): FastifyReply =>
  reply
    .headers({
      ...AREA_A_HEADERS,
      'Content-Type': type,
      'Content-Disposition': `attachment; filename="${name}"`,
    })
    .send(Readable.from(parts, { objectMode: false, highWaterMark: 64 * 1024 }))
