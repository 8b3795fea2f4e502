import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Ask, Expectation } from './ask.ts'

/** Lists are written to a file before a turn, so that the generator has nothing to compute while it measures. */
export async function writeList(file: string, asks: Iterable<Ask>): Promise<void> {
  const lines = function* () {
    for (const ask of asks) yield `${JSON.stringify(ask)}\n`
  }
  await pipeline(Readable.from(batched(lines(), 500)), createWriteStream(file))
}

function* batched(lines: Iterable<string>, size: number): Iterable<string> {
  let batch: string[] = []
  for (const line of lines) {
    batch.push(line)
    if (batch.length === size) {
      yield batch.join('')
      batch = []
    }
  }
  yield batch.join('')
}

/** A request ready to be sent. */
export interface Prepared {
  readonly request: string
  readonly expect: Expectation
}

export async function readList(file: string): Promise<Prepared[]> {
  const prepared: Prepared[] = []
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { target, headers = {}, body = '', expect } = JSON.parse(line) as Ask
    const length = Buffer.byteLength(body)
    const head = { Host: '127.0.0.1', 'Content-Length': length, ...headers }
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
    prepared.push({ request: `POST ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`, expect })
  }
  return prepared
}
