import { expect, it } from 'vitest'
import { HISTORY_COLUMNS } from '../../src/platform/history/index.ts'
import { localized } from '../../src/platform/lib/localized-text.ts'
import { translator } from '../../src/platform/lib/web/locale.ts'

const row = { at: new Date(0), record: 'refund', record_id: 'r1', cause: 'notice', cause_id: null } as const
const shown = (change: Readonly<Record<string, [unknown, unknown]>>) => {
  const column = HISTORY_COLUMNS.find((one) => typeof one === 'object' && one.name === 'change')
  if (typeof column !== 'object' || !column.of) throw new Error('the history shows no changes')
  return String(column.of({ ...row, change }, translator('en'), new Date(0)))
}

it('the history shows each field that changed, before and after', () => {
  const reason = localized('counted-as-refunded', { count: 2 })
  expect(shown({ state: ['unknown', 'refunded'], reason: [null, reason] })).toBe(
    'state: unknown → refunded; reason: – → the partner counts 2 tickets as refunded',
  )
})

it('a decision that was sent again and changed nothing is shown as such', () => {
  expect(shown({})).toBe('')
})
