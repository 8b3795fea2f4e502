import pg from 'pg'
import { describe, expect, it } from 'vitest'
import {
  DatabaseUnavailable,
  isAway,
  keepsConnection,
  rethrowUnavailable,
} from '../../src/platform/lib/database-errors.ts'

const reported = (code: string, routine: string): Error =>
  Object.assign(new pg.DatabaseError('SSL SYSCALL error: EOF detected', 0, 'error'), { code, routine })
const rethrown = (error: Error, sent: boolean): unknown => {
  try {
    return rethrowUnavailable(error, sent)
  } catch (thrown) {
    return thrown
  }
}

describe('a worker of Citus that is lost in the middle of a statement', () => {
  const lost = reported('XX000', 'ReportResultError')

  it('is an outage of which nobody knows whether the write was carried out', () => {
    expect(isAway(lost)).toBe(true)
    expect(keepsConnection(lost)).toBe(false)
    expect(rethrown(lost, false)).toBeInstanceOf(DatabaseUnavailable)
    expect(rethrown(lost, true)).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: true })
  })

  it('is told from what a worker refuses, and from a fault of the server', () => {
    for (const error of [reported('23505', 'ReportResultError'), reported('XX000', 'heap_fetch')]) {
      expect(isAway(error)).toBe(false)
      expect(rethrown(error, true)).toBe(error)
    }
  })
})
