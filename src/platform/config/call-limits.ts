/**
 * How long a call to a partner may take, and everything that has to outlast it. Change `PARTNER_LIMITS`; the rest follows,
 * except the sandbox's preflight, which is shorter (src/sandbox/portal/preflight/probe.ts).
 * test/outbound/http-call.test.ts ("the limits of partner calls") shows each limit.
 */

/** How long and how much the other side may take. */
export interface CallLimits {
  readonly connectMs: number
  readonly headersMs: number
  readonly totalMs: number
  readonly bytes: number
}

export const PARTNER_LIMITS: CallLimits = { connectMs: 3_000, headersMs: 10_000, totalMs: 15_000, bytes: 1_048_576 }

/** For the key set of a client of OpenID Connect: somebody waits for a token meanwhile. */
export const KEY_SET_LIMITS: CallLimits = { connectMs: 2_000, headersMs: 3_000, totalMs: 5_000, bytes: 65_536 }

/** For the platform's OpenID provider: somebody waits for a page, which may take three such calls. */
export const UPSTREAM_LIMITS: CallLimits = { connectMs: 2_000, headersMs: 4_000, totalMs: 5_000, bytes: 262_144 }

/** Seconds for which a command waits for an answer of the admin API: what an operator asks for has to end sooner. */
export const COMMAND_WAITS_S = 600

/** Time beyond the longest call: to record it and to change its order. */
const RECORD_S = 5
/** Time beyond the longest call after which a worker begins no other one. */
const BEGIN_MS = 3_000
/** How long a worker has to renew its lease before it may begin no more calls. */
const RENEW_S = 12

export interface CallTimes {
  /** Seconds after which a call is over: one that takes longer was started by a process that has died. */
  readonly overS: number
  /** What is left of a worker's lease when it begins a call, at least. */
  readonly worstMs: number
  /** Seconds for which a silent worker counts as alive: a call that is begun in time ends in time. */
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
