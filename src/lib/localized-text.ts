import { REASONS, type ReasonId } from './reasons.ts'

/** Texts about details that are stored as data and worded in the reader's language: `sandbox.said.<id>` in views/locales. */
const DETAIL_IDS = [
  'partly-used',
  'partly-used-unmarked',
  'other-order',
  'other-product',
  'other-refund',
  'codes-follow',
  'no-pay-notice',
  'refused-send-again',
  'an-integer',
  'a-text',
  'a-text-such-as',
  'the-number',
  'missing',
  'required',
  'used-codes',
  'a-response-within',
  'no-response',
  'json-or-encrypted',
  'not-followed',
  'at-most-ms',
  'at-most-mib',
  'json-begins',
  'none',
  'empty-body',
  'any-refusal',
  'other-than-200',
  'code-and-text',
  'accepted-signature',
  'accepted-client',
  'accepted-date',
  'with-remark',
  'rounded',
  'nothing',
  'only-unverified',
  'only-wrong-path',
  'only-about',
  'price-of',
  'price-on',
  'id-of-order',
  'count-of-type',
  'different-ones',
  'state-and-reason',
  'must-be-required',
  'required-because',
  'required-because-not',
  'must-be-filled',
  'must-be-text',
  'must-be-boolean',
  'must-be-a-type',
  'must-be-an-type',
  'must-be-one-of',
  'must-have-entries',
  'must-have-entry',
  'must-have-characters',
  'must-be-date',
  'must-be-time',
  'must-be-time-of-day',
  'must-be-price',
  'must-be-a-price',
  'must-be-stock',
  'must-be-bits',
  'must-be-digits',
  'must-be-minutes',
  'answer-lost',
  'days-ahead',
  'sent-twice',
  'sent-slowly',
  'sent-late',
] as const

export type TextId = (typeof DETAIL_IDS)[number] | ReasonId

export const TEXT_IDS: readonly TextId[] = [...DETAIL_IDS, ...(Object.keys(REASONS) as ReasonId[])]

/** A detail in words: which text, and its values. */
export interface LocalizedText {
  readonly text: TextId
  readonly values: Readonly<Record<string, Detail>>
}

/** A value as it came over the wire, or words. */
export type Detail = string | LocalizedText

export const localized = (text: TextId, values: LocalizedText['values'] = {}): LocalizedText => ({ text, values })
