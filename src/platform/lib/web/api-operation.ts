import type { z } from 'zod'
import type { CheckSequence, FailureRow } from '../failure.ts'

/** An answer: a page, a redirect that adds these parameters, or JSON of this shape. */
type ApiAnswer = 'page' | { readonly redirect: z.ZodObject } | { readonly json: z.ZodType }

/** An endpoint that apps call, for the API reference (src/authorization/developer): the schemas are the room's own. */
export interface ApiOperation {
  /** Its operationId; its texts are `api.<id>.title` and `api.<id>.about`. */
  readonly id: string
  readonly dialect: 'contract' | 'standard'
  readonly method: 'get' | 'post'
  readonly path: string
  readonly at: 'PUBLIC_URL' | 'API_URL'
  /** Query parameters; one schema for each kind of request that shares the endpoint. */
  readonly query?: readonly z.ZodObject[]
  /** Form parameters, likewise. */
  readonly form?: readonly z.ZodObject[]
  readonly caller: 'client' | 'token' | 'anybody'
  readonly answers: Readonly<Record<number, ApiAnswer>>
  /** Every named failure that its operations can throw. */
  readonly failures: Readonly<Record<string, FailureRow>>
  /** Failures that are sent back to the app through the browser. */
  readonly redirected?: Readonly<Record<string, FailureRow>>
}

export const failuresOf = <Table extends Readonly<Record<string, FailureRow>>>(
  table: Table,
  names: readonly (keyof Table & string)[],
): Record<string, FailureRow> =>
  Object.fromEntries(
    names.map((name) => {
      const row = table[name]
      if (!row) throw new Error(`no failure ${name}`)
      return [name, row]
    }),
  )

/** The failures that these sequences of checks refuse with, from row `from` on. */
export const failuresIn = (
  table: Readonly<Record<string, FailureRow>>,
  sequences: readonly CheckSequence[],
  from = 1,
): Record<string, FailureRow> => {
  const rows = sequences.flatMap((sequence) => Object.entries(sequence).filter(([row]) => Number(row) >= from))
  return failuresOf(
    table,
    rows.flatMap(([, { failures }]) => failures.map((name) => name.replace(/ .*/, ''))),
  )
}
