import type { Detail } from '../../../platform/lib/localized-text.ts'
import { type Locale, type Translate, translator } from '../../../platform/lib/web/locale.ts'
import type { CallCause } from '../../../ticketing/partner-calls/index.ts'
import { docsTexts } from '../docs/texts.ts'
import type { NotReplayable } from '../errors.ts'
import { messageName } from '../interface-title.ts'
import { explainMistake } from '../mistake-texts.ts'
import { detailText, recordStateText, stepName } from '../texts.ts'
import type { TrafficEntry } from './entry.ts'
import type { OutcomeName, TrafficOutcome } from './outcome.ts'
import type { TrafficKind, TrafficSummary } from './store.ts'
import type { ReplayedOne } from './wire.ts'

const KINDS = {
  call: 'sandbox.traffic.kind_call',
  notice: 'sandbox.traffic.kind_notice',
  rejected: 'sandbox.traffic.kind_rejected',
} as const satisfies Record<TrafficKind, string>

const OBSTACLES = {
  changes: 'sandbox.traffic.obstacle_changes',
  'not-a-notice': 'sandbox.traffic.obstacle_not_a_notice',
  'not-verified': 'sandbox.traffic.obstacle_not_verified',
  'not-whole': 'sandbox.traffic.obstacle_not_whole',
} as const satisfies Record<NotReplayable['obstacle'], string>

const OUTCOMES = {
  succeeded: 'sandbox.traffic.succeeded',
  failed: 'sandbox.traffic.failed',
  'refused-rightly': 'sandbox.traffic.refused_rightly',
  'not-refused': 'sandbox.traffic.not_refused',
  unverified: 'sandbox.traffic.unverified',
} as const satisfies Record<OutcomeName, string>

const FORGED = {
  signature: 'sandbox.traffic.forged_signature',
  date: 'sandbox.traffic.forged_date',
  client: 'sandbox.traffic.forged_client',
} as const satisfies Record<NonNullable<TrafficSummary['forged']>, string>

const OPERATORS = {
  command: 'sandbox.traffic.cause_operator_command',
  console: 'sandbox.traffic.cause_operator_console',
  api: 'sandbox.traffic.cause_operator_api',
} as const satisfies Record<Extract<CallCause, { kind: 'operator' }>['ref'], string>

/** Why a call of ours was made, in words; what is kept fits CallCause, as that is what was given. */
function causeText(cause: CallCause, t: Translate): string {
  if (cause.kind === 'notice') return t('sandbox.traffic.cause_notice_of', { notice: messageName(cause.ref, t) })
  if (cause.kind === 'operator') return t(OPERATORS[cause.ref])
  if (cause.kind === 'step') return t('sandbox.traffic.cause_step', { step: stepName(cause.ref, t) })
  return t(CAUSES[cause.kind])
}

const CAUSES = {
  schedule: 'sandbox.traffic.cause_schedule',
  playground: 'sandbox.traffic.cause_playground',
  replay: 'sandbox.traffic.cause_replay',
  'new-secret': 'sandbox.traffic.cause_new_secret',
} as const

const REPLAYED = {
  accepted: 'sandbox.traffic.replayed_accepted',
  again: 'sandbox.traffic.replayed_again',
  refused: 'sandbox.traffic.replayed_refused',
  done: 'sandbox.traffic.replayed_done',
  failed: 'sandbox.traffic.replayed_failed',
  impossible: 'sandbox.traffic.replayed_impossible',
  gone: 'sandbox.traffic.replayed_gone',
  limited: 'sandbox.traffic.replayed_limited',
} as const satisfies Record<ReplayedOne['outcome'], string>

/** Who reads: the partner whose calls these are, or an operator of the platform. */
type Reader = 'partner' | 'operator'

const LEFT_OUT_UNVERIFIED = {
  partner: 'sandbox.traffic.left_out_unverified',
  operator: 'console.traffic.left_out_unverified',
} as const satisfies Record<Reader, string>

const MAX_OF_LINE = 200

/** Whole words where there are any, with an ellipsis for what is left out. */
function beginning(text: string): string {
  const characters = [...text]
  if (characters.length <= MAX_OF_LINE) return text
  const begun = characters.slice(0, MAX_OF_LINE - 1).join('')
  return `${begun.replace(/[\s;,]+\S{0,30}$/, '')}…`
}

/** Texts of the traffic pages for the values that operations return. */
export function trafficTexts(locale: Locale, reader: Reader = 'partner') {
  const t = translator(locale)
  return {
    kind: ({ kind, verified, isUnsigned }: Pick<TrafficEntry, 'kind' | 'verified' | 'isUnsigned'>): string =>
      verified ? t(KINDS[kind]) : t(isUnsigned ? 'sandbox.traffic.kind_unsigned' : 'sandbox.traffic.kind_unverified'),
    outcome: ({ name }: TrafficOutcome): string => t(OUTCOMES[name]),
    /** Empty of a call that was not forged. */
    forged: (forged: TrafficSummary['forged']): string => (forged === null ? '' : t(FORGED[forged])),
    /** Empty of the partner's own calls. */
    cause: ({ cause: kind, cause_ref: ref }: Pick<TrafficSummary, 'cause' | 'cause_ref'>): string =>
      kind === null ? '' : causeText({ kind, ref } as CallCause, t),
    leftOut: ({ verified, left_out }: Pick<TrafficSummary, 'verified' | 'left_out'>): string =>
      t(verified ? 'sandbox.traffic.left_out' : LEFT_OUT_UNVERIFIED[reader], {
        count: left_out?.toLocaleString(locale) ?? '',
      }),
    obstacle: (obstacle: NotReplayable['obstacle']): string => t(OBSTACLES[obstacle]),
    replayed: (outcome: ReplayedOne['outcome']): string => t(REPLAYED[outcome]),
    name: docsTexts(locale).title,
    step: (id: string): string => stepName(id, t),
    state: (record: 'order' | 'refund', state: string): string => recordStateText(record, state, t),
    /** Why a call failed or was refused, or what is wrong with one of its fields. */
    reason: (given: Detail): string => detailText(given, t),
    /** How a reason begins, for a line of a list. */
    reasonBegins: (given: Detail): string => beginning(detailText(given, t)),
    mistake: (name: string): string => explainMistake(locale, name),
  }
}
