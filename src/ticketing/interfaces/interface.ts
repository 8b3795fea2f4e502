import { z } from 'zod'
import type { ShapeProblem } from '../../platform/lib/json/shape.ts'
import type { ImplausibleValue } from './implausible.ts'

/** The code of success everywhere in area B. */
export const SUCCESS = 200

/** One interface that partners implement (REFERENCE "Interfaces"), as data. */
export interface PartnerInterface<
  Request extends z.ZodType = z.ZodType,
  Answer extends z.ZodObject = z.ZodObject,
  Name extends string = string,
> {
  /** Stable kebab-case name, for the command line, records and the sandbox. */
  readonly name: Name
  /** Below the partner's base URL, unless the partner registered a URL of its own for it. */
  readonly defaultPath: string
  /** The field `body` of the request. */
  readonly request: Request
  /** It changes nothing at the partner, so repeating a call is harmless. */
  readonly reads?: true
  /** The request is encrypted for partners with encrypted calls. */
  readonly encrypted?: true
  /** The whole answer when its code is 200; keeps unknown fields. Invalid ones with a `catch` only cause a warning. */
  readonly answer: Answer
  /** What in a refusal contradicts it, if anything does; the outcome is unknown then. */
  readonly contradicted?: (json: unknown, code: number) => ShapeProblem | undefined
  /** An answer may leave out an empty list. */
  readonly listMayBeMissing?: true
  /** Implausible values in the list of a valid answer. */
  readonly implausible?: (entries: readonly Readonly<Record<string, unknown>>[]) => readonly ImplausibleValue[]
  /** Codes that are neither 200 nor a failure: the result is still to come. */
  readonly pending: Readonly<Record<number, string>>
  /** What the codes of failures mean; others are explained by their hundreds. */
  readonly failures: Readonly<Record<number, string>>
}

type Definition<Request extends z.ZodType, Answer extends z.ZodObject, Name extends string> = Omit<
  PartnerInterface<Request, Answer, Name>,
  'pending' | 'failures'
> &
  Partial<Pick<PartnerInterface, 'pending' | 'failures'>>

/** Defines an interface, keeping the types of its schemas. Every interface knows code 300, any other error. */
export const partnerInterface = <Request extends z.ZodType, Answer extends z.ZodObject, const Name extends string>(
  definition: Definition<Request, Answer, Name>,
): PartnerInterface<Request, Answer, Name> => ({
  ...definition,
  pending: definition.pending ?? {},
  failures: { 300: 'error', ...definition.failures },
})

/** An answer with nothing but code and describe. */
export const plainAnswer = z.looseObject({})
