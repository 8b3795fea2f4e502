import { allows, type Role } from '../../platform/lib/web/admin-auth.ts'
import { type Field, typedFields } from '../actions/index.ts'
import type { Placed } from './placed.ts'

/** The fields that this role may give, without those of the page's address. */
export const fieldsFor = (action: Placed, role: Role): Field[] =>
  typedFields(action).filter(
    ({ name }) => !action.about.includes(name) && !(name in action.fixed) && mayGive(action, name, role),
  )

export const mayGive = ({ elevated }: Pick<Placed, 'elevated'>, name: string, role: Role): boolean =>
  !elevated?.fields.includes(name) || allows(role, elevated.role)
