/** The database cannot be reached, is shutting down, or has no connection to spare: an outage, not a mistake. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
}

// Class 08 is connection trouble, 53 is "insufficient resources", 57P01–57P03 are shutdown and start-up (PostgreSQL, appendix A).
const SQLSTATES = /^(08...|53...|57P0[123])$/
const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'EAI_AGAIN',
])
const PG_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Client was closed|Cannot use a pool after calling end)/

function isUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnavailable)
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return SYSTEM_CODES.has(code) || SQLSTATES.test(code) || PG_MESSAGES.test(error.message)
}

export function rethrowUnavailable(error: unknown): never {
  throw isUnavailable(error) ? new DatabaseUnavailable('the database is not available', { cause: error }) : error
}
