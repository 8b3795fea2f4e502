/**
 * How long a call to a partner may take, and everything that has to outlast it. The rest is derived from
 * `PARTNER_LIMITS`, except the sandbox's preflight, which is shorter (src/sandbox/portal/preflight/probe.ts).
 * test/outbound/http-call.test.ts ("the limits of partner calls") shows each limit.
 */

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

/** Margin after the longest call, to record it and update its order. */
const RECORD_S = 5
/** Margin on top of the longest call that a worker's lease must still have when a call begins. */
const BEGIN_MS = 3_000
/** How long a worker may go without renewing its lease before it may begin no more calls. */
const RENEW_S = 12

export interface CallTimes {
  /** Seconds after which a call is over: one that takes longer was started by a process that has died. */
  readonly overS: number
  /** Least time left on a worker's lease when it begins a call. */
  readonly worstMs: number
  /** Seconds for which a silent worker counts as alive, so that a call it began in time also ends in time. */
  readonly leaseS: number
}

export function callTimes({ totalMs }: Pick<CallLimits, 'totalMs'>): CallTimes {
  const worstMs = totalMs + BEGIN_MS
  return {
    overS: Math.ceil(totalMs / 1000) + RECORD_S,
    worstMs,
    leaseS: Math.ceil(worstMs / 1000) + RENEW_S,
  }
}

export const CALL_TIMES: CallTimes = callTimes(PARTNER_LIMITS)
