import pg from 'pg'
import { describe, expect, it } from 'vitest'
import {
  DatabaseUnavailable,
  isAway,
  keepsConnection,
  rethrowUnavailable,
} from '../../src/platform/lib/database-errors.ts'

const LOST = 'SSL SYSCALL error: EOF detected'
const reported = (code: string, routine: string, message = LOST): Error =>
  Object.assign(new pg.DatabaseError(message, 0, 'error'), { code, routine })
const rethrown = (error: Error, sent: boolean): unknown => {
  try {
    return rethrowUnavailable(error, sent)
  } catch (thrown) {
    return thrown
  }
}

describe('losing a Citus worker in the middle of a statement', () => {
  it.each([
    LOST,
    'server closed the connection unexpectedly',
    'connection not open',
    'could not receive data from server: Connection reset by peer',
  ])('is an outage after which the outcome of a write is unknown: %s', (message) => {
    const lost = reported('XX000', 'ReportResultError', message)
    expect(isAway(lost)).toBe(true)
    expect(keepsConnection(lost)).toBe(false)
    expect(rethrown(lost, false)).toBeInstanceOf(DatabaseUnavailable)
    expect(rethrown(lost, true)).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: true })
  })

  it('is distinguished from an error of a worker, and from an internal error of the server', () => {
    const own = reported('XX000', 'ReportResultError', 'tuple concurrently updated')
    for (const error of [own, reported('23505', 'ReportResultError'), reported('XX000', 'heap_fetch')]) {
      expect(isAway(error)).toBe(false)
      expect(rethrown(error, true)).toBe(error)
    }
  })
})

describe('a database that refuses connections', () => {
  const MESSAGE = 'database "gatehouse" is not currently accepting connections'

  it('is unavailable, and nothing was sent to it', () => {
    const closed = reported('55000', 'CheckMyDatabase', MESSAGE)
    expect(isAway(closed)).toBe(true)
    expect(rethrown(closed, true)).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false })
  })

  it('is distinguished from other errors with the same code', () => {
    const other = reported('55000', 'currval_oid', 'currval of sequence is not yet defined in this session')
    expect(isAway(other)).toBe(false)
    expect(rethrown(other, true)).toBe(other)
  })
})
