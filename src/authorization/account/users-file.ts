import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { CsvError } from 'csv-parse'
import { z } from 'zod'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { checkedUtf8 } from '../../platform/lib/utf8.ts'

/** One record of a file, or why it cannot be read. */
export interface FileRecord {
  /** Where it ends, from 1. */
  readonly line: number
  readonly value?: unknown
  readonly problem?: LocalizedText
}

/** Characters of one record. */
const LONGEST = 65_536

/** The users of a file: NDJSON where it begins with `{`, otherwise CSV with a header row. Throws NotUtf8 where it comes to that. */
export async function* recordsOf(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<FileRecord> {
  const parts = checkedUtf8(source)
  const began = await parts.next()
  if (began.done) return
  const first = began.value
  async function* all(): AsyncGenerator<Buffer> {
    yield first
    yield* parts
  }
  const text = Readable.from(all(), { objectMode: false })
  yield* /^\uFEFF?\s*\{/.test(String(first)) ? jsonLines(text) : csvRecords(text)
}

async function* jsonLines(text: Readable): AsyncGenerator<FileRecord> {
  let line = 0
  let broken: Error | undefined
  const lines = createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })
  // The lines would end as those of a whole file do.
  text.once('error', (error) => {
    broken = error
    lines.close()
  })
  for await (const written of lines) {
    line++
    const record = line === 1 ? written.replace(/^\uFEFF/, '') : written
    if (record.trim() === '') continue
    if (record.length > LONGEST) yield { line, problem: localized('longer-than', { most: LONGEST }) }
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

/** A record of csv-parse with `columns` and `info`. */
const parsedRecord = z.object({
  record: z.record(z.string(), z.string()),
  info: z.object({ lines: z.number(), error: z.unknown() }),
})

/** Cells that are empty count as not given; `cid` is a number where the cell has only digits. */
async function* csvRecords(text: Readable): AsyncGenerator<FileRecord> {
  const broken: FileRecord[] = []
  const { CsvError: Wrong, parse } = await import('csv-parse') // with the first file
  const parser = parse({
    bom: true,
    columns: (names: string[]) => names.map((name) => name.trim()),
    info: true,
    max_record_size: LONGEST,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      broken.push({
        line: Number(error?.lines ?? 0),
        problem: localized('is-not-csv', { message: whatIsWrong(error) }),
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
    const left = info.error instanceof Wrong ? { problem: localized('other-number-of-cells') } : {}
    yield { line: info.lines, value, ...left }
  }
  yield* broken.splice(0)
}

/** Without the text of the record, which may hold a password. */
const whatIsWrong = (error: CsvError | undefined): string =>
  String(error?.code ?? 'unreadable')
    .replace(/^CSV_/, '')
    .replaceAll('_', ' ')
    .toLowerCase()
