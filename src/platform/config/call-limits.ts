/** How long a call may take, and how much the answer may hold. */
export interface CallLimits {
  readonly connectMs: number
  readonly headersMs: number
  readonly totalMs: number
  readonly bytes: number
}

export const PARTNER_LIMITS: CallLimits = { connectMs: 3_000, headersMs: 10_000, totalMs: 15_000, bytes: 1_048_576 }

/** For the key set of an OpenID Connect client: a token request waits for it. */
export const KEY_SET_LIMITS: CallLimits = { connectMs: 2_000, headersMs: 3_000, totalMs: 5_000, bytes: 65_536 }

/** For the platform's OpenID provider: a person waits for a page, which may take three such calls. */
export const UPSTREAM_LIMITS: CallLimits = { connectMs: 2_000, headersMs: 4_000, totalMs: 5_000, bytes: 262_144 }

/** Seconds for which a command waits for an answer of the admin API: what an operator asks for has to end sooner. */
export const COMMAND_WAITS_S = 600

/** Least time left on a worker's lease when it begins a call. */
const WORST_MS = PARTNER_LIMITS.totalMs + 3_000

export const CALL_TIMES = {
  /** Seconds after which a call has been recorded and its order updated, unless its process has died. */
  overS: PARTNER_LIMITS.totalMs / 1000 + 5,
  worstMs: WORST_MS,
  /** Seconds for which a silent worker counts as alive: it may begin a call 12 seconds after renewing its lease. */
  leaseS: WORST_MS / 1000 + 12,
}
