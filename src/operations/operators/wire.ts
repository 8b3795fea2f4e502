import { z } from 'zod'
import { filterText, momentKey, pageInput } from '../../platform/db/page.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { newPasswordOf } from '../../platform/lib/json/input.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { ROLES } from '../../platform/lib/web/admin-auth.ts'

/** Inputs and outputs of the operations on operators. */

export const role = z.enum(ROLES)

/** Stands for the holder of ADMIN_TOKEN; no operator may have this name. */
export const ADMIN_TOKEN_NAME = 'ADMIN_TOKEN'

const operatorName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/, problem('must-be-operator-name'))
  .refine((name) => name.toUpperCase() !== ADMIN_TOKEN_NAME, problem('name-of-admin-token'))

const days = z.int().min(1).max(3_650).default(90)
const tokenName = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(/^[^\p{Cc}]*$/u, problem('must-have-no-control-characters'))

export const newOperator = z.strictObject({ name: operatorName, role, days })

/** Names are ASCII (above); full-width forms of the letters are accepted for them. */
export const typedName = z.string().trim().min(1).max(64).overwrite(normalName)

export const oneOperator = z.strictObject({ name: typedName })

export const roleChange = oneOperator.extend({ role })

export const newToken = oneOperator.extend({
  token_name: tokenName.default('token'),
  /** By default the operator's own. */
  role: role.optional(),
  days,
  /** The same id again makes no second token. A new one if it is left out. */
  token_id: z.uuid(problem('must-be-token-id')).optional(),
})

export const oneToken = oneOperator.extend({ token_id: z.uuid(problem('must-be-token-id')) })

export const operatorFilter = z.strictObject({
  name: filterText(64).optional(),
  ...pageInput(z.tuple([momentKey, z.string()])),
})
export type OperatorFilter = z.output<typeof operatorFilter>

/** Longer than for partners' members: an operator can do more harm. */
export const newPassword = oneOperator.extend({ password: newPasswordOf(12).meta({ secret: true }) })

export const operatorToken = z.object({
  token_id: z.string(),
  name: z.string(),
  role,
  created_at: z.date(),
  expires_at: z.date(),
  last_used_at: z.date().nullable(),
})
type OperatorToken = z.output<typeof operatorToken>

export const operatorRow = z.object({
  operator_id: z.string(),
  name: z.string(),
  role,
  status: z.enum(['active', 'disabled']),
  created_at: z.date(),
  has_password: z.boolean(),
  has_totp: z.boolean(),
  /** The number of unused recovery codes. */
  recovery_codes: z.number(),
})
export type OperatorRow = z.output<typeof operatorRow>

/** An operator, as operations return one. */
export interface ShownOperator extends Omit<OperatorRow, 'operator_id'> {
  /** Valid tokens. */
  readonly tokens: readonly OperatorToken[]
}
