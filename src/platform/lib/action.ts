import type { z } from 'zod'
import { InvalidInput, parseInput } from './json/input.ts'
import type { LocalizedText } from './localized-text.ts'
import type { Role } from './web/admin-auth.ts'
import type { Download } from './web/download.ts'
import type { Translate } from './web/locale.ts'
import type { Problem } from './web/rescode.ts'

/**
 * What operators may do. One row in a room's `operator.ts` makes its route below /admin/v1, its command, its page or form
 * of the console and its place in the API description (src/operations/actions). Its texts are `action.<id>` and
 * `action.<id>.about`; those of its fields `field.<name>` and `field.<name>.hint`, which all rows share. Where a name means
 * something else here it has a text of its own: `field.<id>.<name>`, or `field.app.<name>` for all commands `app …`.
 */

/** What is shown of a row or record, on the terminal, on a page and as CSV: the field of this name, or a column. */
export type Shown<Row> = string | Column<Row>

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
  tone?(row: Row): Tone
  /** The page that it leads to, of the row and what the address of the list says. */
  page?(row: Readonly<Record<string, unknown>>): PageAddress | undefined
}

export type Tone = 'good' | 'bad' | 'warn' | 'plain'

/** A page below /console. What its path does not name stands in its query. */
export type PageAddress = readonly [path: string, about?: Readonly<Record<string, unknown>>]

/** What the terminal alone shows, because a page says it in another way. */
export const onTerminal = <Row>(shown: readonly Shown<Row>[]): readonly Column<Row>[] =>
  shown.map((column) => ({ ...(typeof column === 'string' ? { name: column } : column), onTerminalOnly: true }))

interface ListOf<Name, Row, Columns = readonly Shown<Row>[]> {
  /** The field of the output that has the rows; `next` beside it leads to the following page. */
  readonly rows: Name
  readonly columns: Columns
  /** The page of the record that it is about shows it whole. */
  readonly onRecord?: true
  /** Whether a row has a page of its own, where not every one has. */
  opens?(row: Row): boolean
  /** Who may have the whole list as a file, where that is not everybody who sees it. */
  readonly exportRole?: Role
}

type List<Output> = {
  [Name in keyof Output & string]: Output[Name] extends readonly (infer Row)[] ? ListOf<Name, Row> : never
}[keyof Output & string]

/** What is the same for every schema and output. */
interface Facts {
  /** Below /admin/v1, and for the page below /console: `POST /jobs/:job_id/retry`. */
  readonly route: string
  /** Words of the command line. Without it there is no command. */
  readonly command?: string
  /** The fields that the command takes without a flag, in order; by default the one of the path, if it has one alone. */
  readonly arguments?: readonly string[]
  readonly role: Role
  /** A name in the path that stands for few values: each has a route, and a form of its own; others are not found. */
  readonly each?: { readonly name: string; readonly values: readonly string[] }
  /** The path of its page below /console, and what that is about in its query, where the route's path does not say it. */
  readonly page?: { readonly path: string; readonly about: readonly string[] }
  /** It ends something that cannot be brought back: the console shows it apart. */
  readonly dangerous?: true
  /** The audit log records each look, or each with a reason, so HEAD is not answered. */
  readonly recordsLook?: true
  /** Fields that only a higher role may give, and what the refusal calls that. */
  readonly elevated?: Elevated
  /** The page below /console that follows it where the record is gone. */
  readonly after?: string
  /** The field of the record that has to be typed in the console to confirm it. */
  readonly retyped?: string
  /** Its secret may also be typed as an option of the command, for records that are thrown away. */
  readonly secretAsOption?: true
  /** Bytes of a body, where that is more than others have. */
  readonly bodyLimit?: number
}

interface Elevated {
  readonly role: Role
  readonly fields: readonly string[]
  readonly what: string
  /** An action on the page of one record: the page below /console that asks for these fields. */
  readonly page?: string
}

/** An operation brings the schema of its input; else the row has it. */
interface Run<Input, Deps, Output> {
  (deps: Deps, input: Input): Promise<Output>
  readonly input?: z.ZodType<Input>
}

/** What is done with an output, a record or a form. */
interface Behaviour<Output, Deps> {
  /** The field of the output that has the record; the rest is known about it. */
  readonly record?: string
  /** What the title of its page calls it, where that is not its name, title or number. */
  called?(output: NoInfer<Output>): unknown
  /** The key of the text that says what the list leaves out, where no further page has it. */
  cut?(output: NoInfer<Output>): string | undefined
  /** What an operator below `support` is shown in place of the output. */
  masked?(output: Output): object
  /** What the output means, by its text; after a bad one the command exits with 1. */
  verdict?(output: Output): Verdict | undefined
  /** What is told of the output beside its record and the verdict. */
  told?(output: Output): object
  /** What the command says that is to be done next. */
  next?(output: NoInfer<Output>): string | undefined
  /** What the form begins with. An id that is new each time makes a second click the same change. */
  suggested?(deps: Deps): Readonly<Record<string, unknown>>
  /** What was done all the same, and what the log calls that. */
  readonly warnings?: { of(output: NoInfer<Output>): readonly Problem[]; readonly log: string }
  offered?(record: Readonly<Record<string, unknown>>): boolean
  /** Fields of its form that follow from the record: PUT begins with them, POST does not let them be changed. */
  form?(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
  /** What else is known about the record of this page. */
  related?(record: Readonly<Record<string, unknown>>): readonly Related[]
  /** What it takes is too long for a form: the console asks for a file. */
  readonly upload?: Upload<Deps>
  /** Its answer is a file or another text, not the envelope; the console has a form that asks for it. */
  readonly respond?: Respond<Output>
}

/** `input`: fields of the path, query and body together; refuses others. */
export interface Row<Input extends object, Deps, Output extends object> extends Facts, Behaviour<Output, Deps> {
  readonly input?: z.ZodType<Input>
  readonly run: Run<Input, Deps, Output>
  readonly list?: List<Output>
  /**
   * How values of the output are shown, by their names: an object by its facts, a list as a table. Without columns each of
   * its entries is a fact. Where nothing is declared, lists of objects are tables of all that they have; elsewhere, JSON.
   */
  readonly parts?: Readonly<Record<string, readonly Shown<never>[]>>
  /** What it would do, in numbers, which its page shows above the button. */
  readonly preview?: Preview<Input, Deps>
  /** What its page shows besides. */
  readonly beside?: (deps: Deps, input: Input) => Promise<object>
  /** Fields of the output that no later call shows again. */
  readonly once?: readonly (keyof Output & string)[]
  /** What is thrown where the path cannot name anything; without it, the problem of its field. */
  noSuch?(): Error
}

/** A file of many records. */
export interface Upload<Deps> {
  /** The key of the text that says what the file holds. */
  readonly hint: string
  readonly bytes: number
  /** Throws InvalidInput for what is no such file. */
  run(deps: Deps, file: Buffer, how: { readonly dryRun: boolean }): Promise<Uploaded>
}

/** What was done with a file (`created`) or would be (`new`), and what was left out. */
interface Uploaded {
  readonly counts: Readonly<Record<'new' | 'created' | 'identical' | 'refused', number>>
  readonly problems: readonly { readonly line: number; readonly problem: LocalizedText }[]
}

interface Respond<Output> {
  /** Its content types. */
  readonly types: readonly string[]
  of(output: Output, t: Translate): Download
}

export interface Verdict {
  readonly tone: 'good' | 'bad'
  /** The key of its text. */
  readonly text: string
}

/** A link to another page of the console. */
interface Related {
  /** Whoever may do this sees the link. */
  readonly operation: string
  /** The key of its text. */
  readonly text: string
  readonly page: PageAddress
}

interface Preview<Input, Deps> {
  /** With a role it has a route of its own, GET on the same path, and the command does nothing else without --yes. */
  readonly role?: Role
  readonly run: (deps: Deps, input: Input) => Promise<object>
}

/** A row of any input and output. */
export interface Action<Deps = never> extends Facts, Behaviour<object, Deps> {
  readonly id: string
  readonly input: z.ZodType<object>
  /** Parses what came from outside, and carries it out; throws InvalidInput. */
  perform(deps: Deps, given: unknown): Promise<object>
  foresee?(deps: Deps, given: unknown): Promise<object>
  showBeside?(deps: Deps, given: unknown): Promise<object>
  readonly previewRole?: Role
  readonly list?: ListOf<string, object, readonly Column<object>[]>
  readonly parts?: Readonly<Record<string, readonly Column<object>[]>>
  readonly once?: readonly string[]
}

/** `job_give_up` of the command `job give-up`, or of the route where there is none. */
const idOf = ({ route, command = route.toLowerCase().replace(/:\w+/g, 'one') }: Facts): string =>
  command.replace(/\W+/g, '_')

export function action<Input extends object, Deps, Output extends object>(row: Row<Input, Deps, Output>): Action<Deps> {
  const { run, preview, beside, noSuch, list, parts, ...facts } = row
  const { input = run.input } = row
  if (!input) throw new Error(`no schema for the input of ${row.route}`)
  const read = (given: unknown): Input => {
    try {
      return parseInput(input, given)
    } catch (error) {
      throw noSuch && error instanceof InvalidInput ? withoutPath(row, error, noSuch) : error
    }
  }
  return {
    ...facts,
    ...(list && { list: { ...list, columns: columnsOf(list.columns) } }),
    ...(parts && { parts: Object.fromEntries(Object.entries(parts).map(([name, of]) => [name, columnsOf(of)])) }),
    input,
    id: idOf(row),
    perform: (deps, given) => run(deps, read(given)),
    ...(preview && {
      ...(preview.role ? { previewRole: preview.role } : {}),
      foresee: (deps: Deps, given: unknown) => preview.run(deps, read(given)),
    }),
    ...(beside && { showBeside: (deps: Deps, given: unknown) => beside(deps, read(given)) }),
  }
}

const columnsOf = (shown: readonly Shown<never>[]): readonly Column<object>[] =>
  shown.map((column) => (typeof column === 'string' ? { name: column } : column))

/** The problems of other fields, or that there is no such record. */
function withoutPath({ route }: Facts, { problems }: InvalidInput, noSuch: () => Error): Error {
  const inPath = namesIn(partsOf(route).path)
  const others = problems.filter(({ field }) => !inPath.includes(field))
  return others.length > 0 ? new InvalidInput(others) : noSuch()
}

/** Its route, or one for each value that a name in its path stands for, with that value. */
export const routesOf = ({ route, each }: Pick<Facts, 'route' | 'each'>) =>
  each
    ? each.values.map((value) => ({ route: route.replace(`:${each.name}`, value), fixed: { [each.name]: value } }))
    : [{ route, fixed: {} }]

export const cellOf = ({ name, of }: Column<object>, row: object, t: Translate, now: Date): unknown =>
  of ? of(row, t, now) : (row as Readonly<Record<string, unknown>>)[name]

/** What is needed where the input has a field that only a higher role may give. Throws InvalidInput before that is asked. */
export function elevatedBy(
  { elevated, input }: Pick<Action, 'elevated' | 'input'>,
  given: unknown,
): Elevated | undefined {
  if (!elevated) return undefined
  const read: Readonly<Record<string, unknown>> = { ...parseInput(input, given) }
  return elevated.fields.some((name) => read[name] !== undefined) ? elevated : undefined
}

export function partsOf(route: string): { readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; path: string } {
  const [, method, path] = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/.exec(route) ?? []
  if (!method || !path) throw new Error(`not a route: ${route}`)
  return { method: method as 'GET', path }
}

/** The names in a path: `app_key` of `/apps/:app_key/approve`. */
export const namesIn = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
