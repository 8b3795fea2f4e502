import type { Detail } from '../../../platform/lib/localized-text.ts'
import { keyOf, type Locale, type Translate, translator } from '../../../platform/lib/web/locale.ts'
import type { CallCause } from '../../../ticketing/partner-calls/index.ts'
import { docsTexts } from '../docs/texts.ts'
import type { NotReplayable } from '../errors.ts'
import { detailText, explainMistake, messageName, recordStateText, stepName } from '../texts.ts'
import type { TrafficEntry } from './entry.ts'
import type { TrafficOutcome } from './outcome.ts'
import type { TrafficRow } from './store.ts'
import type { ReplayedOne } from './wire.ts'

/** Why our call was made. */
function causeText(cause: CallCause, t: Translate): string {
  if (cause.kind === 'notice') return t('sandbox.traffic.cause_notice_of', { notice: messageName(cause.ref, t) })
  if (cause.kind === 'operator') return t(`sandbox.traffic.cause_operator_${cause.ref}`)
  if (cause.kind === 'step') return t('sandbox.traffic.cause_step', { step: stepName(cause.ref, t) })
  return t(keyOf('sandbox.traffic.cause_', cause.kind))
}

type Reader = 'partner' | 'operator'

const LEFT_OUT_UNVERIFIED = {
  partner: 'sandbox.traffic.left_out_unverified',
  operator: 'console.traffic.left_out_unverified',
} as const satisfies Record<Reader, string>

const MAX_EXCERPT = 200

/** Cut after a whole word if possible, with an ellipsis. */
function excerpt(text: string): string {
  const characters = [...text]
  if (characters.length <= MAX_EXCERPT) return text
  const beginning = characters.slice(0, MAX_EXCERPT - 1).join('')
  return `${beginning.replace(/[\s;,]+\S{0,30}$/, '')}…`
}

/** Texts for values on the traffic pages. */
export function trafficTexts(locale: Locale, reader: Reader = 'partner') {
  const t = translator(locale)
  return {
    kind: ({ kind, verified, isUnsigned }: Pick<TrafficEntry, 'kind' | 'verified' | 'isUnsigned'>): string =>
      t(`sandbox.traffic.kind_${verified ? kind : isUnsigned ? 'unsigned' : 'unverified'}`),
    outcome: ({ name }: TrafficOutcome): string => t(keyOf('sandbox.traffic.', name)),
    /** Empty for calls that were not forged. */
    forged: (forged: TrafficRow['forged']): string => (forged === null ? '' : t(`sandbox.traffic.forged_${forged}`)),
    /** Empty for the partner's own calls. */
    cause: ({ cause: kind, cause_ref: ref }: Pick<TrafficRow, 'cause' | 'cause_ref'>): string =>
      kind === null ? '' : causeText({ kind, ref } as CallCause, t),
    leftOut: ({ verified, left_out }: Pick<TrafficRow, 'verified' | 'left_out'>): string =>
      t(verified ? 'sandbox.traffic.left_out' : LEFT_OUT_UNVERIFIED[reader], {
        count: left_out?.toLocaleString(locale) ?? '',
      }),
    obstacle: (obstacle: NotReplayable['obstacle']): string => t(keyOf('sandbox.traffic.obstacle_', obstacle)),
    replayed: (outcome: ReplayedOne['outcome']): string => t(`sandbox.traffic.replayed_${outcome}`),
    name: docsTexts(locale).title,
    step: (id: string): string => stepName(id, t),
    state: (record: 'order' | 'refund', state: string): string => recordStateText(record, state, t),
    /** Why a call failed or was refused, or what is wrong with one of its fields. */
    reason: (given: Detail): string => detailText(given, t),
    /** A shortened reason, for lists. */
    reasonExcerpt: (given: Detail): string => excerpt(detailText(given, t)),
    mistake: (name: string): string => explainMistake(locale, name),
  }
}
