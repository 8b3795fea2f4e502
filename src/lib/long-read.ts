import { RescodeError } from './web/rescode.ts'

const LONG_READ_RETRY_S = 30
const withLongRead = new WeakSet<object>()

/**
 * Reads that an operator asks for and that go through whole tables: one at a time for each `ofProcess` (its config), so
 * that they never hold all connections of operators. There is no queue: a further one is refused at once, with 429.
 */
export async function longRead<Result>(ofProcess: object, work: () => Promise<Result>): Promise<Result> {
  if (withLongRead.has(ofProcess)) {
    const message = 'Another count or verification is running in this process; only one runs at a time, try again later'
    const headers = { 'Retry-After': String(LONG_READ_RETRY_S) }
    throw new RescodeError(20003, { status: 429, message, headers, detail: 'a long read is being done' })
  }
  withLongRead.add(ofProcess)
  try {
    return await work()
  } finally {
    withLongRead.delete(ofProcess)
  }
}
