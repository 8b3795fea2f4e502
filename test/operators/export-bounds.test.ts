import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type ExportFormat, exportOf } from '../../src/operations/actions/export.ts'
import { action } from '../../src/platform/lib/action.ts'
import { translator } from '../../src/platform/lib/web/locale.ts'

/** The maximum size of an export, and the note at its end if the list has more rows. */

const NUMBERS = action({
  route: 'GET /numbers',
  role: 'viewer',
  input: z.strictObject({}),
  run: async () => ({ numbers: [{ number: 1 }] }),
  list: { rows: 'numbers', columns: [{ name: 'number' }] },
})
const shown = { t: translator('en'), now: new Date(0) }

const fileOf = async (format: ExportFormat, pages: number, rows: number) => {
  let asked = 0
  const read = async () => {
    asked++
    return { numbers: Array.from({ length: rows }, () => ({ number: 7 })), next: asked < pages ? `c${asked}` : null }
  }
  const { parts } = await exportOf(NUMBERS, format, read, shown)
  return { lines: (await text(Readable.from(parts))).trimEnd().split(/\r?\n/), asked }
}

it('a complete export ends with the last row', async () => {
  expect((await fileOf('csv', 3, 2)).lines).toEqual(['\ufeffnumber', ...Array(6).fill('7')])
  expect((await fileOf('ndjson', 3, 2)).lines).toEqual(Array(6).fill('{"number":7}'))
})

it.each([
  ['pages without rows', 2_000, 0, 1_000],
  ['rows', 2_000, 1_000, 100],
])('an export of too many %s says that it is incomplete', async (_what, pages, rows, read) => {
  const csv = await fileOf('csv', pages, rows)
  expect([csv.asked, csv.lines.length]).toEqual([read, 1 + read * rows + 1])
  expect(csv.lines.at(-1)).toMatch(/^The list goes on: this file ends here/)
  const last = JSON.parse((await fileOf('ndjson', pages, rows)).lines.at(-1) ?? '')
  expect(last).toEqual({ next: `c${read}`, more: expect.stringMatching(/^The list goes on/) })
})
