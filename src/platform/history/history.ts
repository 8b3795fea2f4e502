import { isDeepStrictEqual } from 'node:util'
import type { Shown } from '../lib/action.ts'
import { stringifyLossless } from '../lib/json/lossless.ts'
import { type Detail, joined, LocalizedText, localized } from '../lib/localized-text.ts'
import { cutTo } from '../lib/storable.ts'
import type { HistoryRow } from './store.ts'

/** Why a record changed: a partner's notice, the answer to a call of ours, an operator, or a job. */
export interface Cause {
  readonly kind: 'notice' | 'call' | 'operator' | 'job'
  readonly id?: string
}

export const OPERATOR: Cause = { kind: 'operator' }

/** Field → [before, after]; only fields that differ. */
export type Difference = Readonly<Record<string, readonly [unknown, unknown]>>

export interface Change {
  readonly record: 'product' | 'order' | 'voucher' | 'refund'
  readonly record_id: string
  readonly change: Difference
}

/** Compares two versions of a record; `before` is null for a new one. */
export function difference(before: object | null, after: object): Difference {
  const old = (before ?? {}) as Readonly<Record<string, unknown>>
  const now = after as Readonly<Record<string, unknown>>
  const changed: Record<string, readonly [unknown, unknown]> = {}
  for (const field of Object.keys(now)) {
    const from = old[field] ?? null
    const to = now[field] ?? null
    const isSame = from instanceof LocalizedText ? isDeepStrictEqual(from, to) : from === to
    if (!isSame) changed[field] = [from, to]
  }
  return changed
}

/** A list of one change, or an empty list if nothing differs. */
export function changeOf(
  record: Change['record'],
  record_id: string,
  before: object | null,
  after: object,
): readonly Change[] {
  const change = difference(before, after)
  return Object.keys(change).length > 0 ? [{ record, record_id, change }] : []
}

/** `state: paying → paid`; empty for a refund's decision that was sent again. */
function changeText({ change }: HistoryRow): Detail {
  const texts = Object.entries(change).map(([field, [before, after]]) =>
    localized('field-changed', { field, before: sideText(before), after: sideText(after) }),
  )
  return texts.length > 0 ? joined(texts) : ''
}

const MAX_SIDE = 100

function sideText(value: unknown): Detail {
  if (value === null) return '–'
  if (value instanceof LocalizedText) return value
  const text = typeof value === 'object' ? stringifyLossless(value) : String(value)
  return text.length > MAX_SIDE ? `${cutTo(text, MAX_SIDE)}…` : text
}

export const HISTORY_COLUMNS: readonly Shown<HistoryRow>[] = [
  'at',
  'cause',
  {
    name: 'record',
    of: ({ record, record_id }) => (record === 'order' ? record : `${record} ${record_id}`),
    onTerminalOnly: true, // pages show the history of a single record
  },
  { name: 'change', of: changeText },
]
