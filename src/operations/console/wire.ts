import { z } from 'zod'
import { typedPassword } from '../../platform/lib/json/input.ts'
import { typedName } from '../operators/index.ts'

/** What forms and addresses of the console hold. */

const optional = z.string().max(8_192).optional().catch(undefined)

/** Anything unusable counts as not given. */
export const signInQuery = z
  .object({ return_to: optional, ended: optional, first: optional })
  .catch({ return_to: undefined, ended: undefined, first: undefined })

const byToken = z.object({ token: z.string().trim().min(1).max(1_024) }).transform(({ token }) => ({ token, name: '' }))
const byPassword = z.object({
  name: typedName,
  password: typedPassword,
  /** Anything that is no code is refused like a wrong one. */
  code: z.string().max(32).default(''),
})
export const signInForm = byToken.or(byPassword)

export const codeForm = z.object({ code: z.string().max(32).catch('') }).catch({ code: '' })

/** What every form of a session carries. */
export const markedForm = z.object({ form_mark: z.string() })

/** Marks the page to which a change leads back. */
export const doneQuery = z.object({ done: z.literal('1') })

export const pathParams = z.record(z.string(), z.string())

/**
 * Fields of a form or an address as text. A name that comes several times, as of checkboxes, has a line for each value. NUL is
 * removed, which the database cannot hold, and spaces around a value, unless it is read `exactly`. Empty ones count as not
 * given.
 */
export const formFields = (given: unknown, exactly: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(
    Object.entries(Object(given ?? {}) as Record<string, unknown>).flatMap(([name, value]) => {
      const whole = [value]
        .flat()
        .map((said) => (typeof said === 'string' ? said.replaceAll('\0', '') : ''))
        .join('\n')
      const text = exactly.includes(name) ? whole : whole.trim()
      return text === '' || NOT_FIELDS.has(name) ? [] : [[name, text]]
    }),
  )

/** Fields about the page, not about its record. */
const NOT_FIELDS: ReadonlySet<string> = new Set(['ui_locales', 'done', 'form_mark'])
