import { z } from 'zod'
import { type Detail, joined, type LocalizedText, localized } from '../localized-text.ts'
import { asMessage, pathText, problem, REQUIRED } from './field-problem.ts'
import { jsonIn } from './lossless.ts'

/** A problem of a JSON value: where (`body.voucherList[2].status`) and what. */
export interface ShapeProblem {
  readonly path: string
  readonly problem: Detail
}

/** Checks a value; each problem has its path, in words for the partner's engineer. */
export function readShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { value: z.output<Schema> } | { problems: ShapeProblem[] } {
  const read = schema.safeParse(value)
  if (read.success) return { value: read.data }
  // Parsed again for the messages: asking for them the first time would make every valid value take 1.5 times as long.
  const issues = schema.safeParse(value, { error: describeIssue, reportInput: true }).error?.issues ?? []
  return {
    problems: issues.map((issue) => ({
      path: pathText(issue.path),
      problem: 'input' in issue && issue.input === undefined ? requiredIn(value, issue.path) : issue.message,
    })),
  }
}

/** As serializers write a name of our kind: `orderId` as orderID, OrderId, order_id, ORDER-ID and so on. */
function spellingsOf(name: string): string[] {
  const spaced = name.replace(/(?<=[a-z0-9])[A-Z]/g, ' $&')
  const joints = ['', '_', '-', ' ']
  const joinedWords = joints.map((joint) => spaced.replaceAll(' ', joint))
  const capitals = [name, ...joinedWords].map((text) =>
    text.replace(/(?:^|[_ -])[a-z]/g, (start) => start.toUpperCase()),
  )
  const each = [...joinedWords, ...capitals, ...joinedWords.map((text) => text.toLowerCase())]
  return [
    ...each,
    ...each.map((text) => text.replace(/[iI]d$/, 'ID')),
    ...joinedWords.map((text) => text.toUpperCase()),
  ]
}

/** The field with this name but for capitals and separators, looked up by spelling, since an object may have many fields. */
export function otherSpellingIn(owner: unknown, name: string): string | undefined {
  if (typeof owner !== 'object' || owner === null) return undefined
  return spellingsOf(name).find((spelling) => spelling !== name && Object.hasOwn(owner, spelling))
}

function requiredIn(value: unknown, path: readonly PropertyKey[]): LocalizedText {
  const owner = path
    .slice(0, -1)
    .reduce<unknown>((at, step) => (at as Record<PropertyKey, unknown> | null)?.[step], value)
  const name = otherSpellingIn(owner, String(path.at(-1)))
  return name === undefined ? REQUIRED : localized('required-as-spelt', { name })
}

const TYPES: Readonly<Record<string, LocalizedText>> = {
  string: localized('must-be-text'),
  boolean: localized('must-be-boolean'),
  array: localized('must-be-an-type', { type: 'array' }),
  object: localized('must-be-an-type', { type: 'object' }),
}

/** Longer texts are not parsed merely to word a problem. */
const MAX_PARSED = 100_000
function holdsJson(text: string): boolean {
  const value = text.length <= MAX_PARSED ? jsonIn(text) : undefined
  return typeof value === 'object' && value !== null
}

/** A list or object that arrives as a string was encoded twice, a common mistake. */
function typeProblem(type: string, input: unknown): LocalizedText {
  const isInString = (type === 'object' || type === 'array') && typeof input === 'string' && holdsJson(input)
  if (isInString) return localized('must-be-encoded-once', { type })
  return TYPES[type] ?? localized('must-be-a-type', { type })
}

/** Plain words for issues for which the schema has no message of its own. */
function describeIssue(issue: z.core.$ZodRawIssue): { message: string } | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return { message: asMessage(typeProblem(issue.expected, issue.input)) }
    case 'invalid_value': {
      const values = issue.values.map((allowed) => JSON.stringify(allowed)).join(', ')
      return { message: asMessage(localized('must-be-one-of', { values })) }
    }
    default:
      return undefined
  }
}

/** `body.quantity is required; body.orderId must be …`: at most five, and whether there are more. */
export function problemsText(problems: readonly ShapeProblem[]): LocalizedText {
  const shown: LocalizedText[] = problems.slice(0, MAX_PROBLEMS).map(problemText)
  if (problems.length > shown.length) shown.push(localized('and-more'))
  return joined(shown)
}

/** `startTime must not be before 2026-05-01`. */
export const problemText = ({ path, problem }: ShapeProblem): LocalizedText =>
  path ? localized('field-problem', { field: path, problem }) : localized('whole-value', { problem })

/** Limits on every list that comes over a network; no real seller comes near them, and longer lists are refused at once. */
export const LIST_LIMITS = {
  /** Entries of a product change notice, product ids of a request. */
  deals: 1_000,
  /** Vouchers, their pictures and documents, tickets of an order. */
  vouchers: 1_000,
  visitors: 1_000,
  /** Products or their balances in one answer. */
  products: 1_000,
  pois: 1_000,
  /** Days, sessions and kinds of tickets of a price calendar. */
  prices: 10_000,
  /** Entries of a level price notice. */
  levelPrices: 40,
  /** Kinds of tickets of one session or order. */
  levels: 1_000,
  /** Phones, addresses, refund rules and voucher loaders of a product. */
  details: 100,
  /** Pictures of a product. */
  images: 5,
  /** `voucherTimes` of a product. */
  times: 3,
  /** Functions and steps of a test run. */
  functions: 100,
  /** Entries of Traffic that one form replays; each may take the partner 15 seconds. */
  replays: 10,
  /** Orders that a report names as evidence. */
  orders: 1_000,
  /** Users of one request of an import. */
  users: 500,
  /** Hosts, redirect URIs, origins and scopes of a micro-app; interface URLs of a partner. */
  registered: 100,
} as const

type ListName = keyof typeof LIST_LIMITS

/** For `superRefine` of an object: run it even if fields are wrong, so that all problems are reported at once. */
export const EVEN_IF_WRONG = {
  when: ({ value }: z.core.ParsePayload): boolean => typeof value === 'object' && value !== null,
}

/** In a `superRefine`: reports a missing field, unless it has a problem already. */
export function requireField(
  value: Readonly<Record<string, unknown>>,
  context: z.core.$RefinementCtx,
  field: string,
  message: LocalizedText,
): void {
  const isReported = context.issues.some(({ path }) => path?.[0] === field)
  if (value[field] === undefined && !isReported)
    context.addIssue({ code: 'custom', path: [field], message: asMessage(message) })
}

/** How many problems of one value are reported; one more is looked for, to say that there are more. */
export const MAX_PROBLEMS = 5

/** zod's array, but stops after MAX_PROBLEMS: issues for thousands of empty objects would take seconds. */
const StoppingArray = z.core.$constructor('StoppingArray', (list: z.ZodArray, def: z.core.$ZodArrayDef) => {
  z.ZodArray.init(list, def)
  const readAll = list._zod.parse
  const caps = z.core.util.sizeCaps(def.checks).map(([most]) => most)
  // zod would count the characters of a text, too.
  for (const { _zod: check } of def.checks ?? []) {
    if (check.def.when) check.def.when = ({ value }) => Array.isArray(value)
  }
  list._zod.parse = (payload, context) => {
    const input = payload.value
    // A value that is not a list, or too long a list, is refused before any entry is read.
    if (!Array.isArray(input) || caps.some((most) => input.length > most)) return readAll(payload, context)
    const output: unknown[] = Array(input.length)
    payload.value = output
    for (const [place, value] of input.entries()) {
      const result = def.element._zod.run({ value, issues: [] }, context)
      if (result instanceof Promise) throw new z.core.$ZodAsyncError()
      output[place] = result.value
      if (result.issues.length === 0) continue
      payload.issues.push(...z.core.util.prefixIssues(place, result.issues))
      if (payload.issues.length > MAX_PROBLEMS) break
    }
    return payload
  }
})

const entries = (most: number) => problem('must-have-entries', { most })

/** A list whose limit on entries is checked before any of them is read. */
export const listOf = <Element extends z.core.SomeType>(name: ListName, element: Element): z.ZodArray<Element> => {
  const most = LIST_LIMITS[name]
  const list = new StoppingArray({ type: 'array', element: element as unknown as z.core.$ZodType })
  return (list as unknown as z.ZodArray<Element>).max(most, entries(most))
}

/** An object used as a map, with the limit of that list. */
export const mapOf = <Value extends z.ZodType>(name: ListName, key: z.ZodType<string>, value: Value) => {
  const most = LIST_LIMITS[name]
  const isSmall = (given: unknown): boolean =>
    typeof given !== 'object' || given === null || Object.keys(given).length <= most
  return z
    .unknown()
    .refine(isSmall, entries(most))
    .pipe(z.record(key as z.ZodString, value))
}
