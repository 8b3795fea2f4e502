import type { z } from 'zod'
import type { CheckSequence, FailureRow } from '../failure.ts'

/** What an answer is: a page, a redirect with the parameters that it adds, or JSON of this shape. */
type ApiAnswer = 'page' | { readonly redirect: z.ZodObject } | { readonly json: z.ZodType }

/**
 * One endpoint that apps call, as the API reference describes it (src/authorization/developer). The schemas are those of the room's wire, so a
 * document follows the code; descriptions of fields are texts, by the field's name.
 */
export interface ApiOperation {
  /** Its operationId; its texts are `api.<id>.title` and `api.<id>.about`. */
  readonly id: string
  readonly dialect: 'contract' | 'standard'
  readonly method: 'get' | 'post'
  readonly path: string
  /** Which of the service's addresses serves it (config). */
  readonly at: 'PUBLIC_URL' | 'API_URL'
  /** Parameters of the query; several where more than one kind of request shares the endpoint. */
  readonly query?: readonly z.ZodObject[]
  /** Parameters of a form, likewise. */
  readonly form?: readonly z.ZodObject[]
  /** Who calls: a client by its secret, whoever has a token in a header, or anybody. */
  readonly caller: 'client' | 'token' | 'anybody'
  /** Schemas of the room's wire, by HTTP status. */
  readonly answers: Readonly<Record<number, ApiAnswer>>
  /** Every named failure that its operations can throw. */
  readonly failures: Readonly<Record<string, FailureRow>>
  /** Failures that go back to the app, by way of the browser. */
  readonly redirected?: Readonly<Record<string, FailureRow>>
}

/** The failures of these names. */
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

/** The failures with which these sequences of checks refuse, from a row on. */
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
