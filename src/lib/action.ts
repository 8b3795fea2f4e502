import type { z } from 'zod'
import { parseInput } from './json/input.ts'
import type { Role } from './web/admin-auth.ts'
import type { Download } from './web/download.ts'
import type { Translate } from './web/locale.ts'

/**
 * What operators may do. One row in a room's `operator.ts` makes its route below /admin/v1, its command, its page or form
 * of the console and its place in the API description (src/actions). Its texts are `action.<id>` and
 * `action.<id>.about`; those of its fields `field.<name>` and `field.<name>.hint`.
 */

/** What a list shows of a row, on the terminal, on a page and as CSV. */
export interface Column<Row> {
  /** Its heading is the text `field.<name>`, or on the terminal the name itself. */
  readonly name: string
  /** Without it, the row's field of this name. */
  of?(row: Row, t: Translate): unknown
  /** Too much for a terminal. */
  readonly onPagesOnly?: true
}

interface ListOf<Name, Row> {
  /** The field of the output that has the rows; `next` beside it leads to the following page. */
  readonly rows: Name
  readonly columns: readonly Column<Row>[]
  /** The rows that its page shows before the others. */
  first?(row: Row): boolean
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
  /** The path of its page below /console, and what that is about in its query, where the route's path does not say it. */
  readonly page?: { readonly path: string; readonly about: readonly string[] }
  /** It ends something that cannot be brought back: the console shows it apart. */
  readonly dangerous?: true
  /** The audit log records each look, so HEAD is not answered. */
  readonly recordsLook?: true
}

/** `input`: fields of the path, query and body together; refuses others. */
export interface Row<Input extends object, Deps, Output extends object> extends Facts {
  readonly input: z.ZodType<Input>
  readonly run: (deps: Deps, input: Input) => Promise<Output>
  readonly list?: List<Output>
  /** What an operator below `support` is shown in place of the output. */
  masked?(output: Output): object
  /** What it would do, in numbers, which its page shows above the button. */
  readonly preview?: Preview<Input, Deps>
  /** Fields of the output that no later call shows again. */
  readonly once?: readonly (keyof Output & string)[]
  /** Whether the page of this record offers it. */
  offered?(record: Readonly<Record<string, unknown>>): boolean
  /** What else is known about the record of this page. */
  related?(record: Readonly<Record<string, unknown>>): readonly Related[]
  /** Its answer is a file or another text, not the envelope; the console has a form that asks for it. */
  respond?(output: Output, t: Translate): Download
  /** What the output means, by its text; after a bad one the command exits with 1. */
  verdict?(output: Output): Verdict
}

interface Verdict {
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
  /** Below /console. */
  readonly path: string
  readonly query: Readonly<Record<string, unknown>>
}

interface Preview<Input, Deps> {
  /** With a role it has a route of its own, GET on the same path, and the command does nothing else without --yes. */
  readonly role?: Role
  readonly run: (deps: Deps, input: Input) => Promise<object>
}

/** A row of any input and output. */
export interface Action<Deps = never> extends Facts {
  readonly id: string
  readonly input: z.ZodType<object>
  /** Parses what came from outside, and carries it out; throws InvalidInput. */
  perform(deps: Deps, given: unknown): Promise<object>
  foresee?(deps: Deps, given: unknown): Promise<object>
  readonly previewRole?: Role
  readonly list?: ListOf<string, object>
  readonly once?: readonly string[]
  masked?(output: object): object
  offered?(record: Readonly<Record<string, unknown>>): boolean
  related?(record: Readonly<Record<string, unknown>>): readonly Related[]
  respond?(output: object, t: Translate): Download
  verdict?(output: object): Verdict
}

/** `job_give_up` of the command `job give-up`, or of the route where there is none. */
const idOf = ({ route, command = route.toLowerCase().replace(/:\w+/g, 'one') }: Facts): string =>
  command.replace(/\W+/g, '_')

export function action<Input extends object, Deps, Output extends object>(row: Row<Input, Deps, Output>): Action<Deps> {
  const { run, preview, ...facts } = row
  return {
    ...facts,
    id: idOf(row),
    perform: (deps, given) => run(deps, parseInput(row.input, given)),
    ...(preview && {
      ...(preview.role ? { previewRole: preview.role } : {}),
      foresee: (deps: Deps, given: unknown) => preview.run(deps, parseInput(row.input, given)),
    }),
  }
}

/** What a column shows of a row. */
export const cellOf = ({ name, of }: Column<object>, row: object, t: Translate): unknown =>
  of ? of(row, t) : (row as Readonly<Record<string, unknown>>)[name]

/** Method and path of a route. */
export function partsOf(route: string): { readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; path: string } {
  const [, method, path] = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/.exec(route) ?? []
  if (!method || !path) throw new Error(`not a route: ${route}`)
  return { method: method as 'GET', path }
}

/** The names in a path: `app_key` of `/apps/:app_key/approve`. */
export const namesIn = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
