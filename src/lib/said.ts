/** Texts about details that are stored as data and worded in the reader's language: `sandbox.said.<id>` in views/locales. */
export const SAID_IDS = [
  'partly-used',
  'other-order',
  'other-product',
  'other-refund',
  'codes-follow',
  'an-integer',
  'a-text',
  'missing',
  'required',
  'used-codes',
] as const

export type SaidId = (typeof SAID_IDS)[number]

/** A detail in words: which text, and the values that stand in it. */
export interface Said {
  readonly text: SaidId
  readonly values: Readonly<Record<string, string>>
}

/** A value as it came over the wire, or words. */
export type Detail = string | Said

export const said = (text: SaidId, values: Said['values'] = {}): Said => ({ text, values })
