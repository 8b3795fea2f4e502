import { type LocalizedText, localized, type TextId } from '../localized-text.ts'

/**
 * A schema's message about a wrong value. zod passes on whatever an error map returns, although its types allow only
 * strings; readShape and parseInput read the issues as LocalizedText again.
 */
export const asMessage = (text: LocalizedText): string => text as unknown as string

/** For the second argument of a check: `z.string().min(1, problem('must-be-filled'))`. */
export const problem = <Id extends TextId>(...text: Parameters<typeof localized<Id>>) => {
  const message = asMessage(localized(...text))
  return { error: () => ({ message }) }
}

/** For `addIssue`: `context.addIssue(issue('must-be-json'))`. */
export const issue = <Id extends TextId>(...text: Parameters<typeof localized<Id>>) => ({
  code: 'custom' as const,
  message: asMessage(localized(...text)),
})

export const REQUIRED = localized('must-be-required')
