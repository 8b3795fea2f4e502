import type { Socket } from 'node:net'
import { HEADER_BYTES } from './call-failure.ts'

const CONTINUE = /^HTTP\/1\.[01] 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/
/** Bytes of one: it is looked at anew with each piece that arrives. */
const LONGEST = 1_024
/** What may still become one: the beginning of its first line, or all of that. */
const BEGUN = /^HTTP\/1\.[01] 100[ \r]/
const BEGINNINGS = ['HTTP/1.0 100', 'HTTP/1.1 100']

/** A line feed by itself is no HTTP, and none of it is worth waiting for. */
const LONE_FEED = /(?:^|[^\r])\n/

const mayBecomeOne = (text: string): boolean =>
  (BEGUN.test(text) && !LONE_FEED.test(text)) || BEGINNINGS.some((beginning) => beginning.startsWith(text))

/**
 * Passes over each `100 Continue` before the answer. Some servers send it to every POST, and a client has to read it though
 * it has not asked (RFC 9110 §15.2); undici gives up the connection there, and reads other interim answers.
 */
export function skipContinue(socket: Socket): void {
  const read = socket.read.bind(socket)
  let held = Buffer.alloc(0)
  let skipped = 0
  const readOn = (size?: number): Buffer | null => {
    const chunk: Buffer | null = read(size)
    if (chunk === null) return null
    held = Buffer.concat([held, chunk])
    for (;;) {
      const text = held.toString('latin1', 0, LONGEST)
      const length = CONTINUE.exec(text)?.[0].length ?? 0
      if (length === 0 && mayBecomeOne(text) && held.length < LONGEST) return null
      skipped += length
      if (length === 0 || skipped > HEADER_BYTES) break
      held = held.subarray(length)
      if (held.length === 0) return null
    }
    socket.read = read
    return held
  }
  socket.read = readOn
}
