import type { Translate } from './web/locale.ts'

/** What a list shows of a row, on the terminal, on a page and as CSV. */
export interface Column<Row> {
  /** Its heading is the text `field.<name>`, or on the terminal the name itself. */
  readonly name: string
  /** Without it, the row's field of this name. */
  of?(row: Row, t: Translate, now: Date): unknown
  /** Too much for a terminal. */
  readonly onPagesOnly?: true
  /** Pages say it by another column, or not at all. */
  readonly onTerminalOnly?: true
  /** Its colour on a page. */
  tone?(row: Row): 'good' | 'bad' | 'warn' | 'plain'
  /** The page below /console that it leads to, of the row and what the address of the list says. */
  page?(row: Readonly<Record<string, unknown>>): string
}

export interface ListOf<Name, Row> {
  /** The field of the output that has the rows; `next` beside it leads to the following page. */
  readonly rows: Name
  readonly columns: readonly Column<Row>[]
  /** Whether a row has a page of its own, where not every one has. */
  opens?(row: Row): boolean
}

export type List<Output> = {
  [Name in keyof Output & string]: Output[Name] extends readonly (infer Row)[] ? ListOf<Name, Row> : never
}[keyof Output & string]

/** What a column shows of a row. */
export const cellOf = ({ name, of }: Column<object>, row: object, t: Translate, now: Date): unknown =>
  of ? of(row, t, now) : (row as Readonly<Record<string, unknown>>)[name]
