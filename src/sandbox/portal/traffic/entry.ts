import type { Deps } from '../../../platform/deps.ts'
import { APP_KEY_HEADER, BODY_DECRYPTED, ENCRYPTION_HEADER } from '../../../platform/lib/crypto/aes-body.ts'
import { maskedHeaders, masker } from '../../../platform/lib/crypto/masking.ts'
import { stringToSign } from '../../../platform/lib/crypto/signing.ts'
import { type Detail, type LocalizedText, withValues } from '../../../platform/lib/localized-text.ts'
import { parsedUrl } from '../../../platform/lib/parsed-url.ts'
import type { NoticeDeps } from '../../../ticketing/mtp/index.ts'
import { isOfAuthentication } from '../../../ticketing/mws-wire/index.ts'
import { findPartner, type PartnerWithSecrets, secretTexts } from '../../../ticketing/partners/index.ts'
import { redactFailure } from '../../checks/index.ts'
import { noSuchEntry } from '../errors.ts'
import { MISTAKES_ALONE } from '../texts.ts'
import { curlOf } from './curl.ts'
import { findCalls, findReceived, type KeptCall, type KeptReceived } from './entry-store.ts'
import { obstacleToCall, obstacleToNotice, outcomeOf, type ReplayObstacle, type TrafficOutcome } from './outcome.ts'
import { answerProblems, implausibleInNotice, type LinkedProblem, noticeName, noticeProblems } from './problems.ts'
import type { TrafficKind, TrafficSummary } from './store.ts'
import { type ShownText, shownText, type TextOf } from './text.ts'
import type { TrafficEntryParams } from './wire.ts'

type HeaderLines = readonly (readonly [name: string, value: string])[]

/**
 * A call with everything that is stored, secrets masked; for our own calls also how it was forged and judged, and why
 * it was made.
 */
export interface TrafficEntry extends Pick<TrafficSummary, 'forged' | 'verdict' | 'cause' | 'cause_ref'> {
  readonly kind: TrafficKind
  readonly id: string
  readonly direction: 'out' | 'in'
  readonly at: Date
  /** The name of the interface or notice; otherwise the path. */
  readonly name: string
  readonly orderId?: string
  readonly outcome: TrafficOutcome
  /** False if anybody may have sent this call in the partner's name. */
  readonly verified: boolean
  /** The signature matches none of this partner's secrets. */
  readonly isUnsigned: boolean
  /** The number of refused calls that were not stored and are represented by this otherwise empty entry. */
  readonly left_out: number | null
  /** Names of an accepted notice's warnings. */
  readonly warnings: readonly string[]
  /** Values of an accepted notice that look like mistakes. */
  readonly implausible: readonly LinkedProblem[]
  /** Why our call failed, or the partner's was refused. */
  readonly failure?: { readonly kind: string; readonly detail: Detail }
  readonly problems: readonly LinkedProblem[]
  /** The partner's call was refused because of its signature. */
  readonly isSignature: boolean
  /** The mistakes in the signature: names of src/ticketing/mws/diagnose; empty if unknown. */
  readonly mistakes: readonly string[]
  readonly code: number | null
  readonly durationMs: number | null
  readonly request: {
    readonly method: string
    readonly url: string
    readonly headers?: HeaderLines
    readonly body: ShownText
  }
  /** Undefined if the signed Date was not stored. */
  readonly stringToSign?: string
  readonly response?: { readonly status: number | null; readonly headers?: HeaderLines; readonly body: ShownText }
  readonly curl?: string
  /** Why it cannot be replayed. */
  readonly obstacle?: ReplayObstacle
}

/**
 * An entry of this partner, with bodies formatted by `textOf`. Throws 20007 (404) if it does not exist or is another
 * partner's.
 */
export async function showEntry(
  deps: NoticeDeps,
  partnerId: bigint,
  wanted: TrafficEntryParams,
  textOf: TextOf = shownText,
): Promise<TrafficEntry> {
  const [entry] = await showEntries(deps, partnerId, [wanted], textOf)
  if (!entry) throw noSuchEntry()
  return entry
}

/** Those of these entries that exist and are this partner's, in any order; one statement for each kind. */
export async function showEntries(
  deps: NoticeDeps,
  partnerId: bigint,
  wanted: readonly TrafficEntryParams[],
  textOf: TextOf,
): Promise<TrafficEntry[]> {
  const partner = wanted.length > 0 ? await findPartner(deps, partnerId) : undefined
  if (!partner) return []
  const formatting = { mask: masker(secretTexts(partner)), textOf }
  const entries: TrafficEntry[] = []
  for (const kind of new Set(wanted.map((entry) => entry.kind))) {
    const ids = wanted.filter((entry) => entry.kind === kind).map(({ id }) => id)
    if (kind === 'call') {
      const found = await findCalls(deps.db, partnerId, ids)
      entries.push(...found.map((call) => ourCall(deps, partner, call, formatting)))
    } else {
      const found = await findReceived(deps.db, kind, partnerId, ids)
      entries.push(...found.map((call) => theirCall(deps, kind, call, formatting)))
    }
  }
  return entries
}

type Mask = (text: string) => string

interface Formatting {
  readonly mask: Mask
  readonly textOf: TextOf
}

const linesOf = (headers: Readonly<Record<string, string>>, mask: Mask): HeaderLines =>
  Object.entries(maskedHeaders(headers, mask))

const pathOf = (url: string): string => parsedUrl(url)?.pathname ?? '/'

function ourCall(
  { config }: Deps,
  partner: PartnerWithSecrets,
  found: KeptCall,
  { mask, textOf }: Formatting,
): TrafficEntry {
  const { id, at, interface: name, request_headers, response_headers, response_body, failure, failure_detail } = found
  const url = mask(found.url)
  const shownFailure =
    failure === null
      ? undefined
      : redactFailure(config, { kind: failure, detail: withValues(failure_detail ?? '', mask) })
  const isDisclosed = shownFailure === undefined || shownFailure.kind === failure
  const obstacle = obstacleToCall(found.interface)
  const curl = {
    url,
    clientId: partner.client_id,
    partnerId: String(partner.partner_id),
    body: mask(found.request_body),
    encrypted: request_headers[ENCRYPTION_HEADER] === 'encrypted',
    namesApp: APP_KEY_HEADER in request_headers,
  }
  return {
    ...{ kind: 'call', id, direction: 'out', at, name, code: found.code },
    ...(found.order_id === null ? {} : { orderId: found.order_id }),
    ...{ outcome: outcomeOf({ ...found, verified: true }), forged: found.forged, verdict: found.verdict },
    ...{ cause: found.cause, cause_ref: found.cause_ref },
    ...{ verified: true, isUnsigned: false, left_out: null, warnings: [], implausible: [] },
    ...(shownFailure ? { failure: shownFailure } : {}),
    problems: failure === 'schema' ? answerProblems(found.interface, response_body ?? '') : [],
    isSignature: false,
    mistakes: [],
    durationMs: isDisclosed ? found.duration_ms : null,
    request: {
      method: 'POST',
      url,
      headers: linesOf(request_headers, mask),
      body: textOf(curl.body, curl.encrypted, { name, direction: 'request' }),
    },
    stringToSign: stringToSign({ method: 'POST', path: pathOf(found.url), date: request_headers.Date ?? '' }),
    ...(response_body === null
      ? {}
      : {
          response: {
            status: found.http_status,
            headers: linesOf(response_headers ?? {}, mask),
            body: textOf(mask(response_body), response_headers !== null && BODY_DECRYPTED in response_headers, {
              name,
              direction: 'answer',
            }),
          },
        }),
    curl: curlOf(curl),
    ...(obstacle ? { obstacle } : {}),
  }
}

/** Names of the signature mistakes in a reason. */
const mistakesIn = ({ id, values }: LocalizedText): readonly string[] =>
  id === 'signature-mistakes' ? String(values.mistakes).split(', ') : MISTAKES_ALONE.filter((alone) => alone === id)

function theirCall(
  deps: NoticeDeps,
  kind: 'notice' | 'rejected',
  found: KeptReceived,
  { mask, textOf }: Formatting,
): TrafficEntry {
  const { id, at, headers, body, answer, reason } = found
  const path = mask(found.path)
  const name = noticeName(deps, path) ?? path
  const method = found.method ?? 'POST'
  const isSignature = isOfAuthentication(reason)
  const known = typeof reason === 'string' ? null : reason
  const obstacle = obstacleToNotice(deps, found)
  const date = headers?.date
  return {
    ...{ kind, id, direction: 'in', at, name, forged: null, verdict: null, cause: null, cause_ref: null },
    outcome: outcomeOf({ failure: reason && 'rejected', verified: found.verified, forged: null, verdict: null }),
    ...(found.order_id === null ? {} : { orderId: found.order_id }),
    ...{ verified: found.verified, isUnsigned: known?.id === 'signature-unfit' || known?.id === 'signature-mistakes' },
    ...{ left_out: found.left_out, warnings: found.warnings },
    implausible: reason === null ? implausibleInNotice(deps, path, body) : [],
    ...(reason === null ? {} : { failure: { kind: 'rejected', detail: withValues(reason, mask) } }),
    problems: reason === null || isSignature ? [] : noticeProblems(deps, path, body),
    isSignature,
    mistakes: known === null ? [] : mistakesIn(known),
    code: found.code,
    durationMs: null,
    request: {
      method,
      url: path,
      ...(headers ? { headers: linesOf(headers, mask) } : {}),
      body: textOf(mask(body), headers !== null && BODY_DECRYPTED in headers, { name, direction: 'notice' }),
    },
    ...(date === undefined ? {} : { stringToSign: stringToSign({ method, path, date }) }),
    response: { status: found.status ?? 200, body: textOf(mask(answer), false, { direction: 'our-answer', reason }) },
    ...(obstacle ? { obstacle } : {}),
  }
}
