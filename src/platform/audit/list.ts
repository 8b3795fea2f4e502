import type { Deps } from '../deps.ts'
import { csvLine, withoutFormula } from '../lib/csv.ts'
import { operation } from '../lib/json/input.ts'
import { findEvents } from './store.ts'
import { type AuditExport, type AuditFilter, auditPage, type ShownEvent, shownEvent } from './wire.ts'

/** Newest first. */
export const listAudit = operation(auditPage, async ({ db }: Deps, page) => {
  const { rows, next } = await findEvents(db, page)
  return { events: rows.map(shownEvent), next }
})

const EXPORT_PAGE = 500

/** All matching events, newest first, a page at a time. */
export async function* auditPages(deps: Deps, filter: AuditFilter): AsyncGenerator<readonly ShownEvent[]> {
  for (let next: string | null | undefined; next !== null; ) {
    const after = auditPage.shape.after.parse(next)
    const page = await listAudit(deps, { ...filter, after, limit: EXPORT_PAGE })
    yield page.events
    next = page.next
  }
}

/** All matching events as text, newest first; at most one page is in memory, however slow the reader is. */
export async function* exportAudit(deps: Deps, { format, ...filter }: AuditExport): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(CSV_COLUMNS)
  const line = format === 'csv' ? eventLine : (event: ShownEvent) => `${JSON.stringify(event)}\n`
  for await (const page of auditPages(deps, filter)) yield page.map(line).join('')
}

const CSV_COLUMNS = [
  'id',
  'at',
  'actor_kind',
  'actor_name',
  'action',
  'target',
  'outcome',
  'app_key',
  'partner_id',
  'cid',
  'user_id',
  'address',
  'request_id',
  'detail',
] as const

function eventLine({ actor, at, detail, ...event }: ShownEvent): string {
  const cells = {
    ...event,
    at: at.toISOString(),
    actor_kind: actor.kind,
    actor_name: actor.name,
    detail: JSON.stringify(detail),
  }
  return csvLine(CSV_COLUMNS.map((column) => withoutFormula(String(cells[column] ?? ''))))
}
