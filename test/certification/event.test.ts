import { expect, it } from 'vitest'
import { runEvent } from '../../src/sandbox/certification/event.ts'

const line = { seq: 1, attempt_id: 'a', step_id: 's', at: new Date(0) }

it.each([
  {
    kind: 'waiting',
    data: { path: '/mtp/api/order/consume/notice', until: '2026-01-01T00:00:00Z', about: { a: '1' }, notice: '{}' },
  },
  { kind: 'check', data: { id: 'of-a-newer-release', passed: false, level: 'warning', actual: 'x', added: 1 } },
  {
    kind: 'check',
    data: { id: 'json', passed: false, actual: { id: 'new-text', values: { deep: { id: 'b', values: {} } } } },
  },
  { kind: 'ended', data: { outcome: 'interrupted', stopped: true } },
])('an event of kind $kind is read as it was stored', ({ kind, data }) => {
  expect(runEvent.parse({ ...line, kind, data })).toEqual({ ...line, kind, data })
})

it.each([
  { kind: 'check', data: { id: 'json' } },
  { kind: 'ended', data: { outcome: 'of-no-release' } },
  { kind: 'of-no-release', data: {} },
])('an event of kind $kind is rejected in a form that no release stores', (event) => {
  expect(runEvent.safeParse({ ...line, ...event }).success).toBe(false)
})
