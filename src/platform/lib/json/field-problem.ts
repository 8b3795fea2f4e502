import { type LocalizedText, localized } from '../localized-text.ts'
import { echo } from '../web/rescode.ts'

/** zod passes on whatever an error map returns, although its types allow only strings. */
export const asMessage = (text: LocalizedText): string => text as unknown as string

/** For the second argument of a check: `z.string().min(1, problem('must-be-filled'))`. */
export const problem = (...text: Parameters<typeof localized>) => {
  const message = asMessage(localized(...text))
  return { error: () => ({ message }) }
}

export const issue = (...text: Parameters<typeof localized>) => ({
  code: 'custom' as const,
  message: asMessage(localized(...text)),
})

/** `hosts[1].name` for ['hosts', 1, 'name']; '' for the whole value. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${echo(String(step))}`))
    .join('')
    .replace(/^\./, '')

export const REQUIRED = localized('must-be-required')
