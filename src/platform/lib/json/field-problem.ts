import { type LocalizedText, localized, type TextId } from '../localized-text.ts'

/**
 * What a schema says of a wrong value. zod hands on whatever an error map returns as the message, and its types know only
 * strings: readShape and parseInput, which ask for the issues, take them as what they are.
 */
export const asMessage = (text: LocalizedText): string => text as unknown as string

/** For the second argument of a check: `z.string().min(1, problem('must-be-filled'))`. */
export const problem = <Id extends TextId>(...text: Parameters<typeof localized<Id>>) => {
  const message = asMessage(localized(...text))
  return { error: () => ({ message }) }
}

/** For `addIssue`. */
export const issue = <Id extends TextId>(...text: Parameters<typeof localized<Id>>) => ({
  code: 'custom' as const,
  message: asMessage(localized(...text)),
})

export const REQUIRED = localized('must-be-required')
