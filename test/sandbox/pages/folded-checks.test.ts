import { expect, it } from 'vitest'
import type { LogLine } from '../../../src/sandbox/pages/log-line.ts'
import { withFolded } from '../../../src/sandbox/pages/shown-log.ts'

const line = (seq: number, kind: LogLine['kind'], tone: LogLine['tone'] = 'plain'): LogLine => ({
  ...{ seq, kind, tone, word: '', at: '', after: '', text: '', facts: [], doc: '', docText: '', open: false },
})
const ok = (seq: number) => line(seq, 'check', 'good')

it('passed checks in a row are folded; what failed, and a single one, stays in sight', () => {
  const lines = [
    line(1, 'started'),
    line(2, 'call'),
    ok(3),
    ok(4),
    line(5, 'check', 'bad'),
    ok(6),
    line(7, 'check', 'warning'),
    ok(8),
    ok(9),
    ok(10),
  ]
  const shown = withFolded(lines).map((one) => ('folded' in one ? one.folded.map(({ seq }) => seq) : one.seq))
  expect(shown).toEqual([1, 2, [3, 4], 5, 6, 7, [8, 9, 10]])
  expect(withFolded([])).toEqual([])
})
