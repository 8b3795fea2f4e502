import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { CsvError } from 'csv-parse'
import { z } from 'zod'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { checkedUtf8 } from '../../platform/lib/utf8.ts'

/** One record of a file, or why it cannot be parsed. */
export interface FileRecord {
  /** The line on which it ends, from 1. */
  readonly line: number
  readonly value?: unknown
  readonly problem?: LocalizedText
}

const MAX_LENGTH = 65_536

/** Parses a file of users: NDJSON if it begins with `{`, otherwise CSV with a header row. Throws NotUtf8. */
export async function* recordsOf(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<FileRecord> {
  const parts = checkedUtf8(source)
  const { value: first, done } = await parts.next()
  if (done) return
  async function* all(): AsyncGenerator<Buffer> {
    yield first
    yield* parts
  }
  const text = Readable.from(all(), { objectMode: false })
  yield* /^\uFEFF?\s*\{/.test(String(first)) ? jsonLines(text) : csvRecords(text)
}

async function* jsonLines(source: Readable): AsyncGenerator<FileRecord> {
  let line = 0
  let broken: Error | undefined
  const lines = createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY })
  // readline would end as if the file were complete.
  source.once('error', (error) => {
    broken = error
    lines.close()
  })
  for await (const text of lines) {
    line++
    const record = line === 1 ? text.replace(/^\uFEFF/, '') : text
    if (record.trim() === '') continue
    if (record.length > MAX_LENGTH) yield { line, problem: localized('longer-than', { most: MAX_LENGTH }) }
    else yield { line, ...parsedLine(record) }
  }
  if (broken) throw broken
}

function parsedLine(text: string): Pick<FileRecord, 'value' | 'problem'> {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { problem: localized('is-not-json') }
  }
}

/** What csv-parse yields with `columns` and `info`. */
const parsedRecord = z.object({
  record: z.record(z.string(), z.string()),
  info: z.object({ lines: z.number(), error: z.unknown() }),
})

/** Empty cells count as absent; `cid` becomes a number if it has only digits. */
async function* csvRecords(text: Readable): AsyncGenerator<FileRecord> {
  const broken: FileRecord[] = []
  const { CsvError: Wrong, parse } = await import('csv-parse') // loaded on first use
  const parser = parse({
    bom: true,
    columns: (names: string[]) => names.map((name) => name.trim()),
    info: true,
    max_record_size: MAX_LENGTH,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      broken.push({
        line: Number(error?.lines ?? 0),
        problem: localized('is-not-csv', { message: errorText(error) }),
      })
      return undefined
    },
  })
  text.on('error', (error) => parser.destroy(error)).pipe(parser)
  for await (const parsed of parser) {
    const { record, info } = parsedRecord.parse(parsed)
    yield* broken.splice(0)
    const cells = Object.entries(record).filter(([, cell]) => cell !== '')
    const value = Object.fromEntries(
      cells.map(([name, cell]) => [name, name === 'cid' && /^\d{1,10}$/.test(cell) ? Number(cell) : cell]),
    )
    const mismatch = info.error instanceof Wrong ? { problem: localized('other-number-of-cells') } : {}
    yield { line: info.lines, value, ...mismatch }
  }
  yield* broken.splice(0)
}

/** Without the text of the record, which may hold a password. */
const errorText = (error: CsvError | undefined): string =>
  String(error?.code ?? 'unreadable')
    .replace(/^CSV_/, '')
    .replaceAll('_', ' ')
    .toLowerCase()
