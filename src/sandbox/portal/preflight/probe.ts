import { setTimeout as sleep } from 'node:timers/promises'
import type { CallLimits } from '../../../platform/config/call-limits.ts'
import { parseHttpDate } from '../../../platform/lib/crypto/signing.ts'
import { zoneOfOffset } from '../../../platform/lib/time-zone.ts'
import { isLoopbackHost } from '../../../platform/lib/web/web-url.ts'
import {
  type CallFailure,
  type CallTimings,
  certificateProblem,
  HttpCallError,
  isNoHttp,
  post,
} from '../../../platform/outbound/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { isNetworkFailure } from '../../checks/index.ts'

/** The result of one request to a URL. */
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

/** In production every unreachable URL takes this long, so that blocked, refused and silent ones look the same. */
const UNREACHABLE_MS = 3_500

const TOO_LITTLE_MS = 300

/**
 * Sends an unsigned POST of `{}`, which changes nothing at the partner: it names no order, and has to be refused
 * anyway. Guarded like every call (address-guard.ts). `leftMs`: the time left for the whole pre-flight.
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

export const PREFLIGHT_CHECK_IDS = ['url', 'address', 'dns', 'tls', 'answers', 'clock'] as const

interface PreflightFinding {
  readonly outcome: 'ok' | 'warning' | 'failed' | 'not_tried'
  /** Key in views/locales. */
  readonly text: string
  readonly values?: Readonly<Record<string, string>>
  /** Clock difference; fills {off} in the reader's language. */
  readonly offSeconds?: number
  /** Milliseconds from the start of the request. */
  readonly timing?: number | null
}

export type Findings = Readonly<Record<(typeof PREFLIGHT_CHECK_IDS)[number], PreflightFinding>>

const NOT_TRIED: PreflightFinding = { outcome: 'not_tried', text: 'sandbox.preflight.not_tried' }
const UNTRIED: Findings = {
  url: { outcome: 'ok', text: 'sandbox.preflight.url_ok' },
  address: NOT_TRIED,
  dns: NOT_TRIED,
  tls: NOT_TRIED,
  answers: NOT_TRIED,
  clock: NOT_TRIED,
}

const OK = {
  address: { outcome: 'ok', text: 'sandbox.preflight.address_ok' },
  dns: { outcome: 'ok', text: 'sandbox.preflight.dns_ok' },
} as const satisfies Partial<Findings>

const findingOf =
  (outcome: PreflightFinding['outcome']) =>
  (text: string, values: Record<string, string> = {}): PreflightFinding => ({ outcome, text, values })
const failedWith = findingOf('failed')
const warning = findingOf('warning')

/** For a URL that is not tried. */
export const badUrl = (text: string): Findings => ({ ...UNTRIED, url: failedWith(text) })

/** The findings of a probe. */
export function verdict(url: string, probe: Probe): Findings {
  if (probe.outcome === 'no-time')
    return { ...UNTRIED, answers: { outcome: 'not_tried', text: 'sandbox.preflight.no_time' } }
  if (probe.outcome === 'failed') return { ...UNTRIED, ...broken(url, probe) }
  const { status, date, at, timings } = probe
  return {
    ...UNTRIED,
    ...OK,
    tls: tlsOf(url, timings.connected),
    answers: { ...answered(status), timing: timings.headers },
    clock: clockOf(date, at),
  }
}

const tlsOf = (url: string, timing: number | null): PreflightFinding =>
  url.startsWith('https:') ? { outcome: 'ok', text: 'sandbox.preflight.tls_ok', timing } : withoutTls(url)

/** A warning, except for loopback hosts. */
const withoutTls = (url: string): PreflightFinding => ({
  outcome: isLoopbackHost(new URL(url).hostname) ? 'not_tried' : 'warning',
  text: 'sandbox.preflight.tls_none',
})

/** For loopback hosts the text names the setting that allows them. */
function refusedAddress(url: string, code: string): string {
  if (code === 'PortRefused') return 'sandbox.preflight.port_refused'
  return isLoopbackHost(new URL(url).hostname)
    ? 'sandbox.preflight.own_machine_refused'
    : 'sandbox.preflight.address_refused'
}

function broken(url: string, { failure, code = '', timings }: Probe & { outcome: 'failed' }): Partial<Findings> {
  const connected = { ...OK, tls: tlsOf(url, timings?.connected ?? null) }
  const timing = timings?.total ?? null
  switch (failure) {
    case 'unreachable':
      return { address: failedWith('sandbox.preflight.unreachable') }
    case 'address':
      return { address: failedWith(refusedAddress(url, code)) }
    case 'dns':
      return { dns: { ...failedWith('sandbox.preflight.dns_failed', { code }), timing } }
    case 'connect':
      return { ...OK, answers: { ...failedWith('sandbox.preflight.connect_failed', { code }), timing } }
    case 'tls':
      return { ...OK, tls: { ...tlsProblem(code), timing } }
    case 'timeout':
      return { ...connected, answers: { ...failedWith('sandbox.preflight.answers_timeout'), timing } }
    case 'broken': {
      const isAnswered = (timings?.headers ?? null) !== null
      const noHttp = isNoHttp({ failure, code, isAnswered })
      const text = noHttp ? 'sandbox.preflight.answers_no_http' : 'sandbox.preflight.answers_broken'
      return { ...connected, answers: { ...failedWith(text, { code }), timing } }
    }
    case 'too-large':
      return { ...connected, answers: { ...warning('sandbox.preflight.answers_too_large'), timing } }
  }
}

const CERTIFICATE: Record<NonNullable<ReturnType<typeof certificateProblem>>, string> = {
  'certificate-self-signed': 'sandbox.preflight.tls_self_signed',
  'certificate-unknown-issuer': 'sandbox.preflight.tls_unknown_issuer',
  'certificate-chain': 'sandbox.preflight.tls_chain',
  'certificate-expired': 'sandbox.preflight.tls_expired',
  'certificate-not-yet': 'sandbox.preflight.tls_not_yet',
  'certificate-other-host': 'sandbox.preflight.tls_other_host',
}

function tlsProblem(code: string): PreflightFinding {
  const problem = certificateProblem(code)
  const otherwise =
    code === 'UND_ERR_CONNECT_TIMEOUT' ? 'sandbox.preflight.tls_timeout' : 'sandbox.preflight.tls_failed'
  return failedWith(problem ? CERTIFICATE[problem] : otherwise, { code })
}

function answered(status: number): PreflightFinding {
  const values = { status: String(status) }
  if (status === 404) return warning('sandbox.preflight.answers_not_found', values)
  if (status === 405) return warning('sandbox.preflight.answers_method', values)
  if (status >= 500) return warning('sandbox.preflight.answers_server_error', values)
  if (status >= 300 && status < 400) return warning('sandbox.preflight.answers_redirect', values)
  return { outcome: 'ok', text: 'sandbox.preflight.answers_ok', values }
}

const CLOCK_TOLERANCE_S = 60

/** With a wrong clock the partner refuses our calls, and we its notices. The Date header reveals it early. */
function clockOf(date: string | undefined, at: Date): PreflightFinding {
  if (date === undefined) return warning('sandbox.preflight.clock_no_date')
  const theirs = parseHttpDate(date)
  if ('problem' in theirs) return warning('sandbox.preflight.clock_unreadable')
  const seconds = Math.round((theirs.getTime() - at.getTime()) / 1000)
  const offSeconds = Math.abs(seconds)
  if (offSeconds <= CLOCK_TOLERANCE_S) return { outcome: 'ok', text: 'sandbox.preflight.clock_ok', offSeconds }
  const zone = zoneOfOffset(seconds / 60)
  if (zone !== undefined) return { ...warning('sandbox.preflight.clock_zone', { zone }), offSeconds }
  return { ...warning(seconds > 0 ? 'sandbox.preflight.clock_fast' : 'sandbox.preflight.clock_slow'), offSeconds }
}
