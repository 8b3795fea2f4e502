/** The database cannot be reached, is shutting down, accepts no writes or took too long: an outage, not a bug. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
  /** The server has answered, so the connection can be used again. */
  readonly keepsConnection: boolean
  /** A write was sent, and no answer came: it may have been committed. */
  readonly outcomeUnknown: boolean

  constructor(message: string, about: Pick<DatabaseUnavailable, 'cause' | 'keepsConnection' | 'outcomeUnknown'>) {
    super(message, { cause: about.cause })
    this.keepsConnection = about.keepsConnection
    this.outcomeUnknown = about.outcomeUnknown
  }
}

/** Whether a write may have been done although it failed: repeating it could do it twice. */
export const mayBeDone = (error: unknown): boolean => error instanceof DatabaseUnavailable && error.outcomeUnknown

// PostgreSQL, appendix A. Class 08 is a failed connection, 53 is "insufficient resources" (53100: the disk is full),
// 57P01–57P05, 25P03 and 25P04 are shutdown, start-up and terminated sessions; 25006 means a standby.
const SQLSTATES = /^(08...|53...|57P0[1-5]|25P0[34]|25006)$/
/** Timeouts of statements and locks, and broken deadlocks: nothing was done, and the connection is still good. */
const TOOK_TOO_LONG = new Set(['57014', '55P03', '40P01'])
/** The crash of another session may come at any moment, and a pooler that has lost the server reports class 08. */
const SAYS_NOTHING_OF_OUTCOME = /^(57P02|08...)$/
const NEVER_SENT_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'])
const SYSTEM_CODES = new Set([...NEVER_SENT_CODES, 'ECONNRESET', 'ETIMEDOUT', 'EPIPE'])
const NEVER_SENT_MESSAGES =
  /^(Connection terminated due to connection timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/
const LOST_MESSAGES = /^(Connection terminated|Query read timeout)/
/** Those of `SQLSTATES` that may pass in a moment. Of missing resources only connections, which ending sessions free. */
const AWAY = /^(08...|53300|57P0[1-5]|25P0[34]|25006)$/
/** Columns of a prepared statement have changed. Recognized by routine, since the message is in the server's language. */
export const isStalePlan = (error: unknown): boolean =>
  codeOf(error) === '0A000' && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'

/** Citus reports a worker lost in mid-statement as XX000, with libpq's message. Errors of a worker itself may have it too. */
const isLostWorker = (error: Error): boolean =>
  (error as { routine?: unknown }).routine === 'ReportResultError' &&
  /closed the connection|connection (?:has been closed|not open)|no connection to the server|(?:send|receive) data|SYSCALL error/.test(
    error.message,
  )

/** The database does not allow connections, which it reports with an unspecific code. */
const isClosed = (error: Error): boolean => (error as { routine?: unknown }).routine === 'CheckMyDatabase'

function codeOf(error: unknown): string {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return ''
  if (error.code === '55000' && isClosed(error)) return '57P03'
  return error.code === 'XX000' && isLostWorker(error) ? '08006' : error.code
}

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && !SYSTEM_CODES.has(code)

export function isUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnavailable)
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  return (
    SYSTEM_CODES.has(code) ||
    SQLSTATES.test(code) ||
    TOOK_TOO_LONG.has(code) ||
    isStalePlan(error) ||
    NEVER_SENT_MESSAGES.test(error.message) ||
    LOST_MESSAGES.test(error.message)
  )
}

/** Whether the database cannot be reached now but may be back in a moment. */
export function isAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isAway)
  if (!isUnavailable(error)) return false
  const code = codeOf(error)
  if (isSqlState(code)) return AWAY.test(code)
  return !/^(Query read timeout|Cannot use a pool)/.test((error as Error).message)
}

/** Whether no answer came in time, so that the statement may still be carried out. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Query read timeout')

/** Whether a statement certainly did nothing: it was never sent, or refused by a server that takes no writes. */
export const wasRefused = (error: unknown): boolean =>
  codeOf(error) === '25006' || (error instanceof Error && NEVER_SENT_MESSAGES.test(error.message) && isAway(error))

function mayHaveBeenDone(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(mayHaveBeenDone)
  const code = codeOf(error)
  if (isSqlState(code)) return SAYS_NOTHING_OF_OUTCOME.test(code)
  return !NEVER_SENT_CODES.has(code) && !NEVER_SENT_MESSAGES.test((error as Error).message)
}

const REASONS: Readonly<Record<string, string>> = {
  '57014': 'a statement took longer than it may',
  '55P03': 'another transaction held a lock for too long',
  '25006': 'it accepts no writes',
  '53100': 'its disk is full',
}

const OUTCOME_UNKNOWN =
  'it did not respond in time, or the connection was lost: it is unknown whether this was carried out'

/** No connection could be made: an outage whatever the reason, such as a password changed under a running service. */
export const notConnected = (cause: unknown): DatabaseUnavailable =>
  new DatabaseUnavailable(
    `the database is not available: ${REASONS[codeOf(cause)] ?? 'no connection to it could be made'}`,
    { cause, keepsConnection: false, outcomeUnknown: false },
  )

export const keepsConnection = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable
    ? error.keepsConnection
    : !isUnavailable(error) || TOOK_TOO_LONG.has(codeOf(error))

/** `sent`: a write that commits by itself, or a commit, had been sent to the database. */
export function rethrowUnavailable(error: unknown, sent = false): never {
  if (error instanceof DatabaseUnavailable || !isUnavailable(error)) throw error
  const outcomeUnknown = sent && mayHaveBeenDone(error)
  const reason = outcomeUnknown ? OUTCOME_UNKNOWN : REASONS[codeOf(error)]
  throw new DatabaseUnavailable(`the database is not available${reason ? `: ${reason}` : ''}`, {
    cause: error,
    keepsConnection: TOOK_TOO_LONG.has(codeOf(error)),
    outcomeUnknown,
  })
}
