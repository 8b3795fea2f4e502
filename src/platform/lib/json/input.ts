import { z } from 'zod'
import { joined, type LocalizedText, listed, localized } from '../localized-text.ts'
import { isSeen, isTypablePassword, normalPassword } from '../precis.ts'
import { echo, type Problem, RescodeError } from '../web/rescode.ts'
import { asMessage, pathText, problem, REQUIRED } from './field-problem.ts'

const fieldsText = (problems: readonly Problem[]): LocalizedText =>
  joined(problems.map(({ field, problem }) => localized('field-problem', { field, problem })))

export class InvalidInput extends RescodeError {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(20007, { what: fieldsText(problems), problems })
    this.problems = problems
  }
}

const KINDS: Readonly<Record<string, LocalizedText>> = {
  string: localized('must-be-text'),
  number: localized('must-be-number'),
  int: localized('must-be-whole-number'),
  boolean: localized('must-be-boolean'),
  array: localized('must-be-list'),
  object: localized('must-be-json-object'),
}

const FORMATS: Readonly<Record<string, LocalizedText>> = {
  guid: localized('must-be-uuid'),
  uuid: localized('must-be-uuid'),
  datetime: localized('must-be-iso-time'),
}

/** zod's problems in words for people who fill in forms. A schema's own message takes precedence. */
function inWords(issue: z.core.$ZodRawIssue): LocalizedText | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return REQUIRED
      return KINDS[issue.expected] ?? localized('must-be-type', { type: issue.expected })
    case 'invalid_value':
      if (issue.input === undefined) return REQUIRED
      return localized('must-be-either', { values: listed('either', issue.values.map(String)) })
    case 'invalid_key':
      return issue.issues[0]?.message as LocalizedText | undefined
    case 'invalid_format':
      return FORMATS[issue.format]
    case 'too_small':
      return atLeast(issue.origin, issue.minimum)
    case 'too_big':
      return atMost(issue.origin, issue.maximum)
    default:
      return localized('must-be-valid')
  }
}

const asIssue: z.core.$ZodErrorMap = (issue) => {
  const text = inWords(issue)
  return text && { message: asMessage(text) }
}

function atLeast(origin: string, least: number | bigint): LocalizedText {
  if (origin === 'array')
    return least === 1 ? localized('must-have-entry') : localized('must-have-least-entries', { least })
  if (origin !== 'string') return localized('must-be-at-least', { least })
  return least === 1 ? localized('must-have-a-character') : localized('must-have-least-characters', { least })
}

function atMost(origin: string, most: number | bigint): LocalizedText {
  if (origin === 'array') return localized('must-have-entries', { most })
  if (origin !== 'string') return localized('must-be-at-most', { most })
  return most === 1 ? localized('must-have-no-more-than-one') : localized('must-have-characters', { most })
}

const fieldOf = (path: readonly PropertyKey[]): string => pathText(path) || 'body'

function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  if (issue.code !== 'unrecognized_keys') return [{ field: fieldOf(issue.path), problem: issue.message }]
  const named = issue.keys.slice(0, MAX_PROBLEMS)
  return named.map((key) => ({ field: fieldOf([...issue.path, key]), problem: localized('unknown-field') }))
}

/** More problems are not reported until these are fixed. */
const MAX_PROBLEMS = 50

/** Fields of queries and forms with NUL, which PostgreSQL cannot store. JSON with NUL is refused on parsing. */
const withNul = (value: unknown): Problem[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .filter(([, text]) => [text].flat().some((one) => typeof one === 'string' && one.includes('\0')))
        .map(([name]) => ({ field: echo(name), problem: localized('must-have-no-nul') }))
    : []

/** Parses a value; throws InvalidInput with all problems, at most fifty. */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown): T {
  const unstorable = withNul(value)
  const parsed = schema.safeParse(value, { error: asIssue })
  if (parsed.success && unstorable.length === 0) return parsed.data
  const issues = parsed.error?.issues.slice(0, MAX_PROBLEMS).flatMap(problemsOf) ?? []
  const others = issues.filter(({ field }) => unstorable.every((problem) => problem.field !== field))
  throw new InvalidInput([...unstorable, ...others].slice(0, MAX_PROBLEMS))
}

/**
 * An operation together with the schema of its input, with which routes, commands and pages parse. Operations call one
 * another without parsing. `run` takes the input after its dependencies, or after the id from the URL.
 */
export function operation<Schema extends z.ZodType, Deps, More extends unknown[], Result>(
  input: Schema,
  run: (deps: Deps, input: z.output<Schema>, ...more: More) => Result,
): typeof run & { readonly input: Schema }
export function operation<Schema extends z.ZodType, Deps, Id extends bigint | string, More extends unknown[], Result>(
  input: Schema,
  run: (deps: Deps, id: Id, input: z.output<Schema>, ...more: More) => Result,
): typeof run & { readonly input: Schema }
export function operation(input: z.ZodType, run: (...given: never[]) => unknown): unknown {
  return Object.assign(run, { input })
}

export type InputOf<Operation extends { readonly input: z.ZodType }> = z.output<Operation['input']>

export type OutputOf<Operation extends (...given: never[]) => unknown> = Awaited<ReturnType<Operation>>

const INVISIBLE = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/u

/** One line of text for pages, trimmed, without control characters or characters that hide or reorder text. */
export const visibleLine = (maxLength: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(maxLength)
    .refine((text) => !INVISIBLE.test(text), { ...problem('must-have-no-controls'), abort: true })

/** A name shown to people, such as an app's on the consent page. */
export const shownName = (maxLength: number) =>
  visibleLine(maxLength).refine((text) => text === '' || isSeen(text), problem('must-be-visible'))

const MAX_PASSWORD = 1024

export const typedPassword = z.string().min(1).max(MAX_PASSWORD)

/** A new password in its normal form: that is what is measured, compared with its repetition, and hashed. */
export const newPasswordOf = (minLength: number) =>
  z
    .string()
    .max(MAX_PASSWORD)
    .overwrite(normalPassword)
    .min(minLength)
    .refine(isTypablePassword, problem('must-be-typable'))

/** Whether forbidden characters of a new password are the only problem. */
export const hasWrongCharacters = (error: z.ZodError | undefined): boolean =>
  error?.issues.every(({ code, path }) => code === 'custom' && path[0] === 'password') === true

/** The repetition of a new password, of any length. */
export const repeatedPassword = z.string().max(MAX_PASSWORD).overwrite(normalPassword)

/** Optimistic locking: the record's `updated_at` as the client has read it. */
export const unchangedSince = {
  unchanged_since: z.iso
    .datetime({ offset: true })
    .transform((text) => Date.parse(text))
    .optional(),
}

export interface UnchangedSince {
  readonly unchanged_since?: number | undefined
}

export function refuseIfChanged(updatedAt: Date | undefined, since: number | undefined): void {
  if (since === undefined || updatedAt === undefined || updatedAt.getTime() === since) return
  const changed = localized('was-changed', { at: updatedAt.toISOString() })
  throw new InvalidInput([{ field: 'unchanged_since', problem: changed }])
}

/** Why an operator reads what is otherwise masked; kept in the audit log. */
export const readingReason = z.string().trim().min(3).max(500)
