import type { Deps } from '../../../platform/deps.ts'
import { APP_KEY_HEADER, BODY_DECRYPTED, ENCRYPTION_HEADER } from '../../../platform/lib/crypto/aes-body.ts'
import { maskedHeaders, masker } from '../../../platform/lib/crypto/masking.ts'
import { stringToSign } from '../../../platform/lib/crypto/signing.ts'
import { prettyJson } from '../../../platform/lib/json/lossless.ts'
import { type Detail, type LocalizedText, withValues } from '../../../platform/lib/localized-text.ts'
import { parsedUrl } from '../../../platform/lib/parsed-url.ts'
import { cutTo } from '../../../platform/lib/storable.ts'
import { whyNotKept } from '../../../platform/lib/web/body-placeholder.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import type { NoticeDeps } from '../../../ticketing/mtp/index.ts'
import { isOfAuthentication } from '../../../ticketing/mws-wire/index.ts'
import { findPartner, type PartnerWithSecrets, secretTexts } from '../../../ticketing/partners/index.ts'
import { redactFailure } from '../../checks/index.ts'
import type { MessageName } from '../docs/reference.ts'
import { noSuchEntry } from '../errors.ts'
import { localizedText, MISTAKES_ALONE } from '../texts.ts'
import { curlOf } from './curl.ts'
import { obstacleToCall, obstacleToNotice, outcomeOf, type ReplayObstacle, type TrafficOutcome } from './outcome.ts'
import { answerProblems, implausibleInNotice, type LinkedProblem, noticeName, noticeProblems } from './problems.ts'
import {
  findCalls,
  findReceived,
  type KeptCall,
  type KeptReceived,
  type TrafficKind,
  type TrafficRow,
} from './store.ts'
import type { TrafficEntryParams } from './wire.ts'

interface ShownText {
  readonly text: string
  /** The full length, if the text was cut. */
  readonly cutFrom?: number
  /** It was encrypted on the wire. */
  readonly encrypted?: boolean
  /** It is not shown, because it is not JSON. */
  readonly unreadable?: boolean
  /** Why it was not kept, for a page. */
  readonly notKept?: string
}

/** Formats a body; `message` decides what is masked. */
export type TextOf = (text: string, encrypted: boolean | undefined, message: MessageName) => ShownText

/** Characters of a body that are shown: more would slow browsers down. */
const MAX_SHOWN = 65_536
const MAX_INDENTED = 4 * MAX_SHOWN

/** A body as received, for programs. Long ones are cut. */
export const keptText = (text: string, encrypted = false): ShownText => ({
  text: cutTo(text, MAX_SHOWN),
  ...(text.length > MAX_SHOWN ? { cutFrom: text.length } : {}),
  ...(encrypted ? { encrypted } : {}),
})

/** Indents JSON, keeping numbers as written; other bodies are shown as received. Long ones are cut. */
export function shownText(text: string, encrypted = false): ShownText {
  const mark = encrypted ? { encrypted } : {}
  if (text.length > MAX_SHOWN) return { text: cutTo(text, MAX_SHOWN), cutFrom: text.length, ...mark }
  const pretty = prettyJson(text)
  return { text: pretty === undefined || pretty.length > MAX_INDENTED ? text : pretty, ...mark }
}

/** For a page: `shownText`, or why there is none. */
export const shownIn =
  (t: Translate): TextOf =>
  (text, encrypted) => {
    const why = whyNotKept(text)
    return why ? { text: '', notKept: localizedText(why, t) } : shownText(text, encrypted)
  }

/** A call with everything that is stored, secrets masked. */
export interface TrafficEntry extends Pick<TrafficRow, 'forged' | 'verdict' | 'cause' | 'cause_ref'> {
  readonly kind: TrafficKind
  readonly id: string
  readonly direction: 'out' | 'in'
  readonly at: Date
  /** The name of the interface or notice; otherwise the path. */
  readonly name: string
  readonly orderId: string | undefined
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
  readonly failure?: { readonly kind: string; readonly detail: Detail } | undefined
  readonly problems: readonly LinkedProblem[]
  /** The partner's call was refused because of its signature. */
  readonly isSignature: boolean
  /** The mistakes in the signature: names of src/ticketing/mws/diagnose; empty if unknown. */
  readonly mistakes: readonly string[]
  readonly code: number | null
  readonly durationMs: number | null
  readonly request: Message & { readonly method: string; readonly url: string }
  /** Undefined if the signed Date was not stored. */
  readonly stringToSign: string | undefined
  readonly response: (Message & { readonly status: number | null }) | undefined
  readonly curl?: string
  /** Why it cannot be replayed. */
  readonly obstacle: ReplayObstacle | undefined
}

export interface Message {
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined
  readonly body: ShownText
}

/** With bodies formatted by `textOf`. Throws 20007 (404) unless it exists and is this partner's. */
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

interface Formatting {
  readonly mask: (text: string) => string
  readonly textOf: TextOf
}

const linesOf = (headers: Readonly<Record<string, string>>, { mask }: Formatting) =>
  Object.entries(maskedHeaders(headers, mask))

const isDecrypted = (headers: Readonly<Record<string, string>> | null): boolean =>
  headers !== null && BODY_DECRYPTED in headers

function ourCall({ config }: Deps, partner: PartnerWithSecrets, found: KeptCall, formatting: Formatting): TrafficEntry {
  const { mask, textOf } = formatting
  const { id, at, interface: name, request_headers, response_headers, response_body, failure } = found
  const kept = failure === null ? undefined : { kind: failure, detail: withValues(found.failure_detail ?? '', mask) }
  const shownFailure = kept && redactFailure(config, kept)
  const curl = {
    url: mask(found.url),
    clientId: partner.client_id,
    partnerId: String(partner.partner_id),
    body: mask(found.request_body),
    encrypted: request_headers[ENCRYPTION_HEADER] === 'encrypted',
    namesApp: APP_KEY_HEADER in request_headers,
  }
  const signed = { method: 'POST', path: parsedUrl(found.url)?.pathname ?? '/', date: request_headers.Date ?? '' }
  return {
    ...{ kind: 'call', id, direction: 'out', at, name, code: found.code, orderId: found.order_id ?? undefined },
    ...{ outcome: outcomeOf({ ...found, verified: true }), forged: found.forged, verdict: found.verdict },
    ...{ cause: found.cause, cause_ref: found.cause_ref },
    ...{ verified: true, isUnsigned: false, isSignature: false, mistakes: [] },
    ...{ left_out: null, warnings: [], implausible: [] },
    failure: shownFailure,
    problems: failure === 'schema' ? answerProblems(name, response_body ?? '') : [],
    durationMs: shownFailure?.kind === kept?.kind ? found.duration_ms : null,
    request: {
      ...{ method: 'POST', url: curl.url, headers: linesOf(request_headers, formatting) },
      body: textOf(curl.body, curl.encrypted, { name, direction: 'request' }),
    },
    stringToSign: stringToSign(signed),
    response:
      response_body === null
        ? undefined
        : {
            ...{ status: found.http_status, headers: linesOf(response_headers ?? {}, formatting) },
            body: textOf(mask(response_body), isDecrypted(response_headers), { name, direction: 'answer' }),
          },
    curl: curlOf(curl),
    obstacle: obstacleToCall(name),
  }
}

/** Names of the signature mistakes in a reason. */
const mistakesIn = ({ id, values }: LocalizedText): readonly string[] =>
  id === 'signature-mistakes' ? String(values.mistakes).split(', ') : MISTAKES_ALONE.filter((alone) => alone === id)

function theirCall(
  deps: NoticeDeps,
  kind: 'notice' | 'rejected',
  found: KeptReceived,
  formatting: Formatting,
): TrafficEntry {
  const { mask, textOf } = formatting
  const { id, at, headers, body, reason, verified } = found
  const path = mask(found.path)
  const name = noticeName(deps, path) ?? path
  const method = found.method ?? 'POST'
  const isSignature = isOfAuthentication(reason)
  const known = typeof reason === 'string' ? null : reason
  const date = headers?.date
  return {
    ...{ kind, id, direction: 'in', at, name, orderId: found.order_id ?? undefined, durationMs: null },
    ...{ forged: null, verdict: null, cause: null, cause_ref: null },
    outcome: outcomeOf({ failure: reason && 'rejected', verified, forged: null, verdict: null }),
    ...{ verified, isUnsigned: known?.id === 'signature-unfit' || known?.id === 'signature-mistakes' },
    ...{ left_out: found.left_out, warnings: found.warnings, code: found.code, isSignature },
    implausible: reason === null ? implausibleInNotice(deps, path, body) : [],
    failure: reason === null ? undefined : { kind: 'rejected', detail: withValues(reason, mask) },
    problems: reason === null || isSignature ? [] : noticeProblems(deps, path, body),
    mistakes: known === null ? [] : mistakesIn(known),
    request: {
      ...{ method, url: path, headers: headers ? linesOf(headers, formatting) : undefined },
      body: textOf(mask(body), isDecrypted(headers), { name, direction: 'notice' }),
    },
    stringToSign: date === undefined ? undefined : stringToSign({ method, path, date }),
    response: {
      status: found.status ?? 200,
      body: textOf(mask(found.answer), false, { direction: 'our-answer', reason }),
    },
    obstacle: obstacleToNotice(deps, found),
  }
}
