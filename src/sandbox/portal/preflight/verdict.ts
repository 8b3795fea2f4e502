import { parseHttpDate } from '../../../platform/lib/crypto/signing.ts'
import { zoneOfOffset } from '../../../platform/lib/time-zone.ts'
import { isLoopbackHost } from '../../../platform/lib/web/web-url.ts'
import type { Probe } from './probe.ts'
import type { Reason } from './texts.ts'

export const PREFLIGHT_CHECK_IDS = ['url', 'address', 'dns', 'tls', 'answers', 'clock'] as const

/** What a check found: the name of its text (texts.ts) and its values. */
export interface PreflightFinding {
  readonly outcome: 'ok' | 'warning' | 'failed' | 'not_tried'
  readonly reason: Reason
  readonly values?: Readonly<Record<string, string>>
  /** By how many seconds the clocks differ: fills {off}, in the reader's words. */
  readonly offSeconds?: number
  /** Milliseconds from the start of the request. */
  readonly timing?: number | null
}

export type Findings = Readonly<Record<(typeof PREFLIGHT_CHECK_IDS)[number], PreflightFinding>>

const NOT_TRIED: PreflightFinding = { outcome: 'not_tried', reason: 'not-tried' }
const UNTRIED: Findings = {
  url: { outcome: 'ok', reason: 'url-ok' },
  address: NOT_TRIED,
  dns: NOT_TRIED,
  tls: NOT_TRIED,
  answers: NOT_TRIED,
  clock: NOT_TRIED,
}

const OK = {
  address: { outcome: 'ok', reason: 'address-ok' },
  dns: { outcome: 'ok', reason: 'dns-ok' },
} as const satisfies Partial<Findings>

const failedWith = (reason: Reason, values: Record<string, string> = {}): PreflightFinding => ({
  outcome: 'failed',
  reason,
  values,
})
const warning = (reason: Reason, values: Record<string, string> = {}): PreflightFinding => ({
  outcome: 'warning',
  reason,
  values,
})

/** A URL that is not even tried. */
export const badUrl = (reason: Reason): Findings => ({ ...UNTRIED, url: failedWith(reason) })

/** What a probe shows about each check. */
export function verdict(url: string, probe: Probe): Findings {
  if (probe.outcome === 'no-time') return { ...UNTRIED, answers: { outcome: 'not_tried', reason: 'no-time' } }
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
  url.startsWith('https:') ? { outcome: 'ok', reason: 'tls-ok', timing } : withoutTls(url)

/** A warning, except on this machine. */
const withoutTls = (url: string): PreflightFinding => ({
  outcome: isLoopbackHost(new URL(url).hostname) ? 'not_tried' : 'warning',
  reason: 'tls-none',
})

/** A developer on this machine is shown the setting that lets the service call it. */
function refusedAddress(url: string, code: string): Reason {
  if (code === 'PortRefused') return 'port-refused'
  return isLoopbackHost(new URL(url).hostname) ? 'own-machine-refused' : 'address-refused'
}

function broken(url: string, { failure, code = '', timings }: Probe & { outcome: 'failed' }): Partial<Findings> {
  const connected = { ...OK, tls: tlsOf(url, timings?.connected ?? null) }
  const timing = timings?.total ?? null
  switch (failure) {
    case 'unreachable':
      return { address: failedWith('unreachable') }
    case 'address':
      return { address: failedWith(refusedAddress(url, code)) }
    case 'dns':
      return { dns: { ...failedWith('dns-failed', { code }), timing } }
    case 'connect':
      return { ...OK, answers: { ...failedWith('connect-failed', { code }), timing } }
    case 'tls':
      return { ...OK, tls: { ...tlsProblem(code), timing } }
    case 'timeout':
      return { ...connected, answers: { ...failedWith('answers-timeout'), timing } }
    case 'broken':
      return { ...connected, answers: { ...failedWith('answers-broken', { code }), timing } }
    case 'too-large':
      return { ...connected, answers: { ...warning('answers-too-large'), timing } }
  }
}

/** OpenSSL's and Node's names for what is wrong with a certificate. */
const CERTIFICATE: Readonly<Record<string, Reason>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls-self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls-unknown-issuer',
  UNABLE_TO_GET_ISSUER_CERT: 'tls-unknown-issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls-unknown-issuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls-chain',
  CERT_HAS_EXPIRED: 'tls-expired',
  CERT_NOT_YET_VALID: 'tls-not-yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls-other-host',
  UND_ERR_CONNECT_TIMEOUT: 'tls-timeout',
}

const tlsProblem = (code: string): PreflightFinding => failedWith(CERTIFICATE[code] ?? 'tls-failed', { code })

function answered(status: number): PreflightFinding {
  const values = { status: String(status) }
  if (status === 404) return warning('answers-not-found', values)
  if (status === 405) return warning('answers-method', values)
  if (status >= 500) return warning('answers-server-error', values)
  if (status >= 300 && status < 400) return warning('answers-redirect', values)
  return { outcome: 'ok', reason: 'answers-ok', values }
}

const CLOCK_TOLERANCE_S = 60

/**
 * A partner whose clock is wrong refuses our calls, and we refuse its notices. The Date of its answer shows that early.
 */
function clockOf(date: string | undefined, at: Date): PreflightFinding {
  if (date === undefined) return warning('clock-no-date')
  const theirs = parseHttpDate(date)
  if ('problem' in theirs) return warning('clock-unreadable')
  const seconds = Math.round((theirs.getTime() - at.getTime()) / 1000)
  const offSeconds = Math.abs(seconds)
  if (offSeconds <= CLOCK_TOLERANCE_S) return { outcome: 'ok', reason: 'clock-ok', offSeconds }
  const zone = zoneOfOffset(seconds / 60)
  if (zone !== undefined) return { ...warning('clock-zone', { zone }), offSeconds }
  return { ...warning(seconds > 0 ? 'clock-fast' : 'clock-slow'), offSeconds }
}
