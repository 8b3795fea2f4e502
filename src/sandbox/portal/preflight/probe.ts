import { setTimeout as sleep } from 'node:timers/promises'
import type { CallLimits } from '../../../platform/config/call-limits.ts'
import { type CallFailure, type CallTimings, HttpCallError, post } from '../../../platform/outbound/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { isNetworkFailure } from '../../checks/index.ts'

/** What one request to a URL came to. */
export type Probe =
  | {
      readonly outcome: 'answered'
      readonly status: number
      readonly date: string | undefined
      readonly at: Date
      readonly timings: CallTimings
    }
  | {
      readonly outcome: 'failed'
      readonly failure: CallFailure | 'unreachable'
      readonly code: string | undefined
      readonly timings: CallTimings | null
    }
  | { readonly outcome: 'no-time' }

const LIMITS: CallLimits = { connectMs: 2_500, headersMs: 3_000, totalMs: 3_500, bytes: 65_536 }

/** In production an unreachable URL takes this long, whether it was blocked, refused or silent. */
const UNREACHABLE_MS = 3_500

const TOO_LITTLE_MS = 300

/**
 * One POST of `{}` without a signature, which changes nothing at the partner: it names no order, and it has to be
 * refused. Guarded like every call (address-guard.ts); `leftMs` is what the pre-flight still has.
 */
export async function probe({ config, calls, clock }: RunDeps, url: string, leftMs: number): Promise<Probe> {
  if (leftMs < TOO_LITTLE_MS) return { outcome: 'no-time' }
  const started = performance.now()
  try {
    const request = { url, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: '{}' }
    const limits = { ...LIMITS, totalMs: Math.min(LIMITS.totalMs, leftMs) }
    const { status, headers, timings } = await post(request, calls.guard, limits)
    return { outcome: 'answered', status, date: headers.date, at: clock.now(), timings }
  } catch (error) {
    if (!(error instanceof HttpCallError)) throw error
    const { failure, code, timings } = error
    if (!isNetworkFailure(config, failure)) return { outcome: 'failed', failure, code, timings }
    await sleep(Math.max(0, Math.min(UNREACHABLE_MS, leftMs) - (performance.now() - started)))
    return { outcome: 'failed', failure: 'unreachable', code: undefined, timings: null }
  }
}
