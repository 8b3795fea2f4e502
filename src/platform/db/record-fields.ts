import type { z } from 'zod'
import { Fragment, sql } from './statement.ts'

/** One field of a micro-app or partner, from which its column, its field in /admin/v1 and forms, and its option follow. */
interface RecordField {
  /** Accepted on creation; missing if the field can only be changed later. */
  readonly created?: z.ZodType
  /** Accepted on change; missing if the field is set once. */
  readonly changed?: z.ZodType
  readonly kept: z.ZodType
  /** Read with every call of the app or partner, not only by pages and operators. */
  readonly everyCall?: true
  /** Set by the app's team in this input of its form; once the app is live, the team asks for a change. */
  readonly ofTeam?: TeamInput
}

/** One line of text, or a list: a box of `lines` with one entry a line. */
interface TeamInput {
  readonly type?: 'url'
  readonly most?: number | null
  readonly lines?: number
  /** Below the rest of the form, unfolded by a click. */
  readonly folded?: true
}

export type Fields = Readonly<Record<string, RecordField>>

/** A field that may be set on creation, `usual` by default, and changed later. */
export const changeable = <Given extends z.ZodType, Kept extends z.ZodType>(
  given: Given,
  usual: z.core.util.NoUndefined<z.output<Given>>,
  kept: Kept,
) => ({ created: given.default(usual), changed: given, kept })

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
  [Name in keyof Described as Described[Name] extends Record<Mark, unknown> ? Name : never]: Described[Name]
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

export const valuesOf = (row: Readonly<Record<string, unknown>>, names: readonly string[]): Fragment =>
  sql.join(names.map((name) => sql.part`${row[name]}`))

/** For `update … set`: columns in `changes` get its values, the others of `names` stay. The text is always the same. */
export const assignmentsOf = (changes: Readonly<Record<string, unknown>>, names: readonly string[]): Fragment =>
  sql.join(
    names.map((name) => {
      const parts = [`${name} = case when `, ' then ', ` else ${name} end`]
      return new Fragment(parts, [changes[name] !== undefined, changes[name]])
    }),
  )
