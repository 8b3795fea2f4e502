import type { z } from 'zod'
import { Fragment, sql } from './statement.ts'

/**
 * All that is known of a field of a micro-app or partner. From it follow the columns that are read and written, and with the
 * action that takes it the field of /admin/v1, the option and the field of the form.
 */
interface RecordField {
  /** What a new one may have; missing where the field can only be changed. */
  readonly created?: z.ZodType
  /** What it may be changed to; missing where it is set once. */
  readonly changed?: z.ZodType
  /** What the column of this name holds. */
  readonly kept: z.ZodType
  /** It is read with every call of the app or partner, not only by pages and operators. */
  readonly everyCall?: true
  /** Set by the app's team; once the app is live, the team asks for a change. */
  readonly ofTeam?: true
}

export type Fields = Readonly<Record<string, RecordField>>

type Use = 'created' | 'changed' | 'kept'

type Shape<Described, As extends Use> = {
  [Name in keyof Described as Described[Name] extends Record<As, z.ZodType>
    ? Name
    : never]: Described[Name] extends Record<As, infer Schema> ? Schema : never
}

/** The schemas of the fields that have one for this use, for z.object. */
export const shapeOf = <Described extends Fields, As extends Use>(fields: Described, use: As): Shape<Described, As> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => (field[use] ? [[name, field[use]]] : [])),
  ) as Shape<Described, As>

type Marked<Described, Mark extends string> = {
  [Name in keyof Described as Described[Name] extends Record<Mark, true> ? Name : never]: Described[Name]
}

/** The fields that are read with every call, or that a team sets. */
export const marked = <Described extends Fields, Mark extends 'everyCall' | 'ofTeam'>(
  fields: Described,
  mark: Mark,
): Marked<Described, Mark> =>
  Object.fromEntries(Object.entries(fields).filter(([, field]) => field[mark])) as Marked<Described, Mark>

/** `a, b`, or of a table's alias `t.a, t.b`. */
export const columnsOf = (names: readonly string[], alias?: string): Fragment =>
  new Fragment([names.map((name) => (alias ? `${alias}.${name}` : name)).join(', ')])

/** The values of these columns, as parameters. */
export const valuesOf = (row: Readonly<Record<string, unknown>>, names: readonly string[]): Fragment =>
  sql.join(names.map((name) => sql.part`${row[name]}`))

/** For `update … set`: the columns that `changes` has get its values, the others of `names` stay. One text for all changes. */
export const assignmentsOf = (changes: Readonly<Record<string, unknown>>, names: readonly string[]): Fragment =>
  sql.join(
    names.map((name) => {
      const parts = [`${name} = case when `, ' then ', ` else ${name} end`]
      return new Fragment(parts, [changes[name] !== undefined, changes[name]])
    }),
  )
