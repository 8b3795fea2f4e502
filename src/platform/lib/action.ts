import type { z } from 'zod'
import { InvalidInput, parseInput } from './json/input.ts'
import type { LocalizedText } from './localized-text.ts'
import type { Role } from './web/admin-auth.ts'
import type { Download } from './web/download.ts'
import type { Translate } from './web/locale.ts'
import type { Problem } from './web/rescode.ts'

/**
 * What operators may do. One row in a room's `actions.ts` defines a route below /admin/v1, a command, a page or form
 * of the console and an entry of the API description (src/operations/actions). Its texts are `action.<id>` and
 * `action.<id>.about`; those of its fields `field.<name>` and `field.<name>.hint`, or, where a name means something
 * else, `field.<id>.<name>`, or `field.app.<name>` for all commands `app …`. The hint of a list's filter, or one for
 * this action alone, is `action.<id>.<name>`. A new word before the commands is `command.<word>`.
 */

/** What the terminal, pages and CSV show of a row or record: a field by its name, or a column. */
export type Shown<Row> = string | Column<Row>

export interface Column<Row> {
  /** The heading is the text `field.<name>`, on the terminal the name itself. */
  readonly name: string
  /** By default the row's field of this name. */
  of?(row: Row, t: Translate, now: Date): unknown
  /** Too wide for a terminal. */
  readonly onPagesOnly?: true
  /** Pages show it in another column, or not at all. */
  readonly onTerminalOnly?: true
  /** Its colour on pages. */
  tone?(row: Row): Tone
  /** The page that the cell links to, from the row and the list's parameters. */
  page?(row: Readonly<Record<string, unknown>>): PageAddress | undefined
}

/** The colour of a state on pages: its class in the style sheets. */
export type Tone = 'good' | 'bad' | 'warning' | 'plain'

/** A page below /console; `about` goes into the path where that names it, otherwise into the query. */
export type PageAddress = readonly [path: string, about?: Readonly<Record<string, unknown>>]

/** Columns for the terminal alone, because pages show that in another way. */
export const onTerminal = <Row>(shown: readonly Shown<Row>[]): readonly Column<Row>[] =>
  shown.map((column) => ({ ...(typeof column === 'string' ? { name: column } : column), onTerminalOnly: true }))

interface ListOf<Name, Row, Columns = readonly Shown<Row>[]> {
  /** The field of the output that holds the rows; `next` beside it is the cursor of the following page. */
  readonly rows: Name
  readonly columns: Columns
  /** Shown in full on the page of the record that it belongs to. */
  readonly onRecord?: true
  /** Whether a row has its own page, if not every one has. */
  opens?(row: Row): boolean
  /** Who may download the whole list, if not everybody who may see it. */
  readonly exportRole?: Role
}

type List<Output> = {
  [Name in keyof Output & string]: Output[Name] extends readonly (infer Row)[] ? ListOf<Name, Row> : never
}[keyof Output & string]

/** What does not depend on the types of input and output. */
interface Facts {
  /** Below /admin/v1, and for the page below /console: `POST /jobs/:job_id/retry`. */
  readonly route: string
  /** Words of the command line; without it there is no command. */
  readonly command?: string
  /** Fields that the command takes as positional arguments; by default the path's parameter, if it has exactly one. */
  readonly arguments?: readonly string[]
  readonly role: Role
  /** A path parameter with few values: each gets its own route and form; others are not found. */
  readonly each?: { readonly name: string; readonly values: readonly string[] }
  /** The path of its page below /console and the fields in its query, if they do not follow from the route. */
  readonly page?: { readonly path: string; readonly about: readonly string[] }
  /** Irreversible: the console sets it apart. */
  readonly dangerous?: true
  /** The audit log records each read, or each with a reason, so HEAD is not answered. */
  readonly recordsLook?: true
  /** Fields that only a higher role may set, and what the refusal calls that. */
  readonly elevated?: Elevated
  /** The page below /console to go to when the record is gone. */
  readonly after?: string
  /** The field of the record that must be retyped in the console to confirm. */
  readonly retyped?: string
  /** Its secret may also be given as an option of the command, for throwaway records. */
  readonly secretAsOption?: true
  /** Size limit of the body in bytes, if above the default. */
  readonly bodyLimit?: number
}

interface Elevated {
  readonly role: Role
  readonly fields: readonly string[]
  readonly what: string
  /** For an action on a record's page: the page below /console with a form for these fields. */
  readonly page?: string
}

/** An operation carries the schema of its input; otherwise the row has it. */
interface Run<Input, Deps, Output> {
  (deps: Deps, input: Input): Promise<Output>
  readonly input?: z.ZodType<Input>
}

interface Behaviour<Output, Deps> {
  /** The field of the output that holds the record; its other fields are about the record. */
  readonly record?: string
  /** The record's name in the page title, if that is not its name, title or number. */
  called?(output: NoInfer<Output>): unknown
  /** The key of the text that says what the list leaves out and no further page has. */
  cut?(output: NoInfer<Output>): string | undefined
  /** What operators below `support` see instead of the output. */
  masked?(output: Output): object
  /** What the output means; after a bad verdict the command exits with 1. */
  verdict?(output: Output): Verdict | undefined
  /** What is shown of the output besides its record and the verdict. */
  told?(output: Output): object
  /** The next step that the command suggests. */
  next?(output: NoInfer<Output>): string | undefined
  /** Initial values of the form. A fresh id here makes a second click repeat the same change. */
  suggested?(deps: Deps): Readonly<Record<string, unknown>>
  /** Problems in spite of which it was done, and what the log calls them. */
  readonly warnings?: { of(output: NoInfer<Output>): readonly Problem[]; readonly log: string }
  offered?(record: Readonly<Record<string, unknown>>): boolean
  /** Values that its form offers for fields of text, by name. */
  offers?(deps: Deps): Promise<Readonly<Record<string, readonly string[]>>>
  /** The fields that its form shows at once, if it has many; optional ones beside them are folded. */
  readonly mainFields?: readonly string[]
  /** For PUT: the record's present values of the fields, with which the form begins. */
  present?(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
  /** Values that follow from the record: the form announces them, and nobody can edit them. */
  decided?(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
  /** Links to other pages about the record; `operation` is the id of the action whose role is needed to see it. */
  related?(record: Readonly<Record<string, unknown>>): readonly Related[]
  /** Its input is too long for a form: the console takes a file. */
  readonly upload?: Upload<Deps>
  /** Its answer is a text of one of these content types instead of the envelope; the console has a form for it. */
  readonly respond?: { readonly types: readonly string[]; of(output: Output, t: Translate): Download }
}

export interface Verdict {
  readonly tone: 'good' | 'bad'
  /** The key of its text. */
  readonly text: string
}

interface Related {
  readonly operation: string
  /** The key of its text. */
  readonly text: string
  readonly page: PageAddress
}

/** `input` covers the fields of path, query and body together, and refuses unknown ones. */
export interface Row<Input extends object, Deps, Output extends object> extends Facts, Behaviour<Output, Deps> {
  readonly input?: z.ZodType<Input>
  readonly run: Run<Input, Deps, Output>
  readonly list?: List<Output>
  /**
   * How values of the output are shown, by name: an object as facts, a list as a table. With no columns, each of its
   * entries is a fact. By default a list of objects is a table of all their fields, and anything else is JSON.
   */
  readonly parts?: Readonly<Record<string, readonly Shown<never>[]>>
  /**
   * What it would do, in numbers; its page shows them above the button. With a role it is also GET on the same path, and
   * the command only previews unless given --yes.
   */
  readonly preview?: { readonly role?: Role; readonly run: (deps: Deps, input: Input) => Promise<object> }
  /** What its page shows in addition. */
  readonly beside?: (deps: Deps, input: Input) => Promise<object>
  /** Fields of the output that no later call shows again. */
  readonly once?: readonly (keyof Output & string)[]
  /** Fields that are copied together with those: the id that belongs to a secret. */
  readonly onceWith?: readonly (keyof Output & string)[]
  /** The error for a path parameter that cannot name anything; without it, the parameter's own problem. */
  noSuch?(): Error
}

export interface Upload<Deps> {
  /** The key of the text that says what the file holds. */
  readonly hint: string
  readonly bytes: number
  /** What was done (`created`) or would be (`new`), and what was left out. Throws InvalidInput for a file of another kind. */
  run(deps: Deps, file: Buffer, how: { readonly dryRun: boolean }): Promise<Uploaded>
}

interface Uploaded {
  readonly counts: Readonly<Record<'new' | 'created' | 'identical' | 'refused', number>>
  readonly problems: readonly { readonly line: number; readonly problem: LocalizedText }[]
}

/** A row with its types of input and output erased. */
export interface Action<Deps = never> extends Facts, Behaviour<object, Deps> {
  readonly id: string
  readonly input: z.ZodType<object>
  /** Parses what came from outside and runs the operation; throws InvalidInput. */
  perform(deps: Deps, given: unknown): Promise<object>
  foresee?(deps: Deps, given: unknown): Promise<object>
  showBeside?(deps: Deps, given: unknown): Promise<object>
  readonly previewRole?: Role
  readonly list?: ListOf<string, object, readonly Column<object>[]>
  readonly parts?: Readonly<Record<string, readonly Column<object>[]>>
  readonly once?: readonly string[]
  readonly onceWith?: readonly string[]
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

/** The problems of fields outside the path, or else that there is no such record. */
function withoutPath({ route }: Facts, { problems }: InvalidInput, noSuch: () => Error): Error {
  const inPath = namesIn(partsOf(route).path)
  const others = problems.filter(({ field }) => !inPath.includes(field))
  return others.length > 0 ? new InvalidInput(others) : noSuch()
}

/** Its route, or one route for each value of its `each` parameter. */
export const routesOf = ({ route, each }: Pick<Facts, 'route' | 'each'>) =>
  each
    ? each.values.map((value) => ({ route: route.replace(`:${each.name}`, value), fixed: { [each.name]: value } }))
    : [{ route, fixed: {} }]

export const cellOf = ({ name, of }: Column<object>, row: object, t: Translate, now: Date): unknown =>
  of ? of(row, t, now) : (row as Readonly<Record<string, unknown>>)[name]

/** The elevated role, if the input sets one of its fields. Throws InvalidInput for a bad input. */
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
