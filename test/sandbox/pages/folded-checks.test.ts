import { expect, it } from 'vitest'
import type { LogLine } from '../../../src/sandbox/portal/pages/log-line.ts'
import { withFolded } from '../../../src/sandbox/portal/pages/shown-log.ts'

const line = (seq: number, kind: LogLine['kind'], tone: LogLine['tone'] = 'plain'): LogLine => ({
  ...{ seq, kind, tone, word: '', at: '', after: '', text: kind, facts: [], doc: '', docText: '', open: false },
})
const ok = (seq: number) => line(seq, 'check', 'good')

/** The log as shown: the number of a line, or the numbers of lines that are folded together. */
const shown = (lines: readonly LogLine[], running = false) =>
  withFolded(lines, running).map((one) => ('folded' in one ? one.folded.map(({ seq }) => seq) : one.seq))

const called = (seq: number) => [line(seq, 'calling'), line(seq + 1, 'call')]

it('a successful call is folded into one line with its checks', () => {
  const lines = [
    line(1, 'started'),
    ...called(2),
    ok(4),
    ok(5),
    line(6, 'call'),
    ...called(7),
    ok(9),
    line(10, 'ended'),
  ]
  expect(shown(lines)).toEqual([1, [2, 3, 4, 5], [6], [7, 8, 9], 10])
  expect(withFolded(lines, false)[1]).toMatchObject({ seq: 2, title: 'call', checks: 2 })
  expect(withFolded(lines, false)[2]).toMatchObject({ seq: 6, title: 'call', checks: 0 })
  expect(shown([])).toEqual([])
})

it.each([
  ['failed', 'bad'],
  ['warns', 'warning'],
] as const)(
  'in a call with a check that %s only the other checks are folded, if two or more are adjacent',
  (_name, tone) => {
    const lines = [...called(1), ok(3), ok(4), line(5, 'check', tone), ok(6), ...called(7), ok(9)]
    expect(shown(lines)).toEqual([1, 2, [3, 4], 5, 6, [7, 8, 9]])
  },
)

it('a call that got no answer, or none yet, is not folded', () => {
  expect(shown([line(1, 'calling'), line(2, 'call', 'bad'), ok(3)])).toEqual([1, 2, 3])
  expect(shown([line(1, 'calling'), line(2, 'waiting')])).toEqual([1, 2])
})

it('a notice of the seller is not folded, only its checks are', () => {
  const lines = [line(1, 'waiting'), line(2, 'rejected', 'warning'), line(3, 'notice'), ok(4), ok(5), line(6, 'ended')]
  expect(shown(lines)).toEqual([1, 2, 3, [4, 5], 6])
})

it('the current call is not folded until another line follows', () => {
  const lines = [...called(1), ok(3), ...called(4), ok(6), ok(7)]
  expect(shown(lines, true)).toEqual([[1, 2, 3], 4, 5, 6, 7])
  expect(shown([...lines, line(8, 'waiting')], true)).toEqual([[1, 2, 3], [4, 5, 6, 7], 8])
})
