import type english from '../../../../views/locales/mistakes.en.json'
import { readTexts } from '../../../platform/lib/root.ts'

/** Deviations of some long-running programs: mistakes until the partner is live, then only warnings. */
export const TOLERATED = ['partner-id-missing', 'query-signed'] as const
export type Tolerated = (typeof TOLERATED)[number]

/** What a notice with this Content-Type or body would be refused for, or is accepted with from a live partner. */
export const WARNINGS = [
  'body-too-long',
  'body-compressed',
  'body-not-json',
  'body-partner-id-missing',
  'body-partner-id-mismatch',
  'voucher-list-missing',
  'fields-left-out',
  'implausible-prices',
  ...TOLERATED,
] as const satisfies readonly (keyof typeof english)[]
export type Warning = (typeof WARNINGS)[number]

/** Every mistake that a diagnosis can name. Partners' scripts may rely on the names. */
export type MistakeName = Exclude<keyof typeof english, Exclude<Warning, Tolerated>>

/** What each mistake or warning is, and its remedy. */
export const EXPLANATIONS = readTexts<MistakeName | Warning>('mistakes.en')

export interface SigningMistake {
  readonly name: MistakeName
  readonly explanation: string
}

/** `detail`: a sentence about this call. */
export const mistake = (name: MistakeName, detail?: string): SigningMistake => ({
  name,
  explanation: detail === undefined ? EXPLANATIONS[name] : `${EXPLANATIONS[name]} ${detail}`,
})
