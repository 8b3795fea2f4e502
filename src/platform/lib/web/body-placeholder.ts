import { type LocalizedText, localized } from '../localized-text.ts'

const NOT_KEPT = [
  'not-kept-large',
  'not-kept-incomplete',
  'not-kept-encoding',
  'not-kept-signature-first',
  'not-kept-path',
  'not-kept-method',
  'not-kept-compressed',
] as const

/** Stored in place of a body, in parentheses. */
export const placeholderFor = (why: (typeof NOT_KEPT)[number]): string => `(${localized(why)})`

const BY_TEXT: ReadonlyMap<string, LocalizedText> = new Map(
  NOT_KEPT.map((why) => [placeholderFor(why), localized(why)]),
)

/** Why a body was not kept, if this text is stored in its place. */
export const whyNotKept = (body: string): LocalizedText | undefined => BY_TEXT.get(body)
