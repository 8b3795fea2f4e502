import { z } from 'zod'
import { typedPassword } from '../../platform/lib/json/input.ts'
import { typedName } from '../operators/index.ts'

/** The forms and queries of the console. */

const optional = z.string().max(8_192).optional().catch(undefined)

/** Unusable values count as absent. */
export const signInQuery = z
  .object({ return_to: optional, ended: optional, first: optional })
  .catch({ return_to: undefined, ended: undefined, first: undefined })

const byToken = z.object({ token: z.string().trim().min(1).max(1_024) }).transform(({ token }) => ({ token, name: '' }))
const byPassword = z.object({
  name: typedName,
  password: typedPassword,
  /** Text that is not a code is refused like a wrong code. */
  code: z.string().max(32).default(''),
})
export const signInForm = byToken.or(byPassword)

export const codeForm = z.object({ code: z.string().max(32).catch('') }).catch({ code: '' })

/** Marks the page that a change returns to. */
export const doneQuery = z.object({ done: z.literal('1') })

export const pathParams = z.record(z.string(), z.string())

/**
 * The fields of a form or a query as text, without empty ones. A repeated name, such as that of checkboxes, gets a line
 * per value. Removes NUL, which the database cannot store, and surrounding spaces except from the fields in `exactly`.
 */
export const formFields = (given: unknown, exactly: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(
    Object.entries(Object(given ?? {}) as Record<string, unknown>).flatMap(([name, value]) => {
      const whole = [value]
        .flat()
        .map((text) => (typeof text === 'string' ? text.replaceAll('\0', '') : ''))
        .join('\n')
      const text = exactly.includes(name) ? whole : whole.trim()
      return text === '' || NOT_FIELDS.has(name) ? [] : [[name, text]]
    }),
  )

/** Fields that are about the page, not the record. */
const NOT_FIELDS: ReadonlySet<string> = new Set(['ui_locales', 'done'])
