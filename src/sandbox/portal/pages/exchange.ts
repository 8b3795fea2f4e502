import type { Translate } from '../../../platform/lib/web/locale.ts'
import { RescodeError } from '../../../platform/lib/web/rescode.ts'
import type { RunDeps } from '../../certification/index.ts'
import { detailText } from '../texts.ts'
import { showEntry, type TrafficEntry } from '../traffic/entry.ts'
import type { TrafficKind } from '../traffic/store.ts'
import type { ShownText } from '../traffic/text.ts'

/** A request or an answer as the log shows it. */
interface Message {
  /** `POST https://…` or `HTTP 200`. */
  readonly start: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: ShownText
}

/** One request with its answer, in either direction; secrets are masked. */
export interface ShownExchange {
  /** Where the traffic shows it. */
  readonly href: string
  /** ISO 8601. */
  readonly at: string
  readonly durationMs: number | null
  readonly request: Message
  /** Null when there was none. */
  readonly answer: Message | null
  /** Why there was none, or what is wrong with it. */
  readonly failure: string | null
  /** It had to be refused, and was. */
  readonly refusedRightly: boolean
  readonly stringToSign: string | null
  readonly curl: string | null
}

/** The exchange that a line of the log refers to; null once it has been purged. */
export async function findExchange(
  { deps, partnerId, t }: { readonly deps: RunDeps; readonly partnerId: bigint; readonly t: Translate },
  kind: TrafficKind,
  id: string,
): Promise<ShownExchange | null> {
  const entry = await showEntry(deps, partnerId, { kind, id }).catch((error: unknown) => {
    if (error instanceof RescodeError && error.failure.status === 404) return undefined
    throw error
  })
  return entry ? exchangeOf(entry, t) : null
}

const exchangeOf = (
  { kind, id, at, durationMs, failure, request, response, ...entry }: TrafficEntry,
  t: Translate,
): ShownExchange => ({
  href: `/sandbox/traffic/${kind}/${id}`,
  at: at.toISOString(),
  durationMs,
  request: { start: `${request.method} ${request.url}`, headers: request.headers ?? [], body: request.body },
  answer: response
    ? { start: `HTTP ${response.status ?? 200}`, headers: response.headers ?? [], body: response.body }
    : null,
  failure: failure ? detailText(failure.detail, t) : null,
  refusedRightly: entry.outcome.name === 'refused-rightly',
  stringToSign: entry.stringToSign ?? null,
  curl: entry.curl ?? null,
})
